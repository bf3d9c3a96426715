"""What all formats of annotation files share: how files are laid out, and what a captioned moment can be."""
