"""The review page: traces and campaigns to read, judge and hand on. Its server is an extra; nothing here is imported
before `dof review` runs."""
