def show(a):
    print(
        *[
            (k, e.value)
            for k in (
                "title",
                "header",
                "subheader",
                "markdown",
                "caption",
                "info",
                "warning",
                "error",
                "success",
                "text",
            )
            for e in a.get(k)
        ],
        sep="\n",
    )
    print({m.label: m.value for m in a.metric}, [e.label for e in a.expander])
    print(*[e.proto.body for e in a.get("html")], sep="\n")


def test_a(open_page_of):
    show(open_page_of("my_work", "Ben"))
