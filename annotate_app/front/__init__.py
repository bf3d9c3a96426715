"""Several server processes behind one port: one process accepts connections and hands each one over."""
