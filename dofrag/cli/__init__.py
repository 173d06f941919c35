"""The `dof` command. One file per command group; thin: flags in, library call, text out."""
