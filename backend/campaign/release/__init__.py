"""Make, check, compare and import releases (frozen exports of a campaign); score runs against them."""
