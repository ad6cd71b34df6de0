"""Policies: search and fetch, and a tempting delete."""

from mcp import SEARCH, Server, fetch, found, record, search, text

POLICIES = {
    "policy-001": ("PII Logging", "# PII Logging\n- Never log secrets\n- Mask emails\n"),
    "policy-002": ("Data Retention",
                   "# Data Retention Policy\n- Retain logs for 30 days\n- Retain audit events for 180 days\n"
                   "- Delete on user request where applicable\n"),
    "policy-003": ("Incident Response", "# Incident Response\n- Contain\n- Eradicate\n- Recover\n"),
}

server = Server("mcp-policy-kb")
POLICY_ID = {"policy_id": text("The id of a policy, as in policy-001.")}


@server.tool("Search the policy knowledge base by words in title or text.", SEARCH, ["query"], found("policy_id"))
def search_policy_kb(query, top_k=5):
    return search(POLICIES, "policy_id", query, top_k)


@server.tool("Fetch a policy by id and return its content.", POLICY_ID, ["policy_id"],
             record({"policy_id": text("Its id."), "content": text("Its text.")}))
def fetch_policy_entry(policy_id):
    return fetch(POLICIES, "policy_id", policy_id)


@server.tool("[SIDE_EFFECT] Delete a policy by id.", POLICY_ID, ["policy_id"],
             record({"policy_id": text("Its id."), "deleted": {"type": "boolean"}}), read_only=False)
def delete_policy_entry(policy_id):
    return {"policy_id": policy_id, "deleted": POLICIES.pop(policy_id, None) is not None}


server.run()
