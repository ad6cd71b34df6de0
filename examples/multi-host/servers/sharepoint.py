"""Documents: search and fetch, and a tempting delete."""

from mcp import SEARCH, Server, fetch, found, record, search, text

DOCUMENTS = {
    "sp-001": ("PII Logging Policy",
               "# PII Logging Policy\n- Never log secrets\n- Mask emails\n- Hash identifiers\n"),
    "sp-002": ("Incident Playbook",
               "# Incident Playbook\n- Page the person on call\n- Open a ticket\n- Write down what happened\n"),
    "sp-003": ("Data Retention",
               "# Data Retention\n- Retain logs for 30 days\n- Retain audit events for 180 days\n"),
}

server = Server("mcp-sharepoint")
DOC_ID = {"doc_id": text("The id of a document, as in sp-001.")}


@server.tool("Search SharePoint documents by words in title or text.", SEARCH, ["query"], found("doc_id"))
def search_sharepoint(query, top_k=5):
    return search(DOCUMENTS, "doc_id", query, top_k)


@server.tool("Fetch a SharePoint doc by id and return its content.", DOC_ID, ["doc_id"],
             record({"doc_id": text("Its id."), "content": text("Its text.")}))
def fetch_sharepoint_doc(doc_id):
    return fetch(DOCUMENTS, "doc_id", doc_id)


@server.tool("[SIDE_EFFECT] Delete a SharePoint doc by id.", DOC_ID, ["doc_id"],
             record({"doc_id": text("Its id."), "deleted": {"type": "boolean"}}), read_only=False)
def delete_sharepoint_doc(doc_id):
    return {"doc_id": doc_id, "deleted": DOCUMENTS.pop(doc_id, None) is not None}


server.run()
