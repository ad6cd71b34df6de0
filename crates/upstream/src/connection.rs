//! A connection to one MCP server.
