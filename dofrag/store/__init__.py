"""The SQLite store: schema, reads, the single writer. The only user of sqlite-utils below the norm layer."""
