"""The file layer: definition and show roots, read without ever opening what could block or lead astray."""
