import lycosa

seeds, here = ["http://open-directory.localhost:8123/"], "127.0.0.0/8"
for visit in lycosa.crawl("coral reef bleaching", seeds, out="reefs", budget=100, delay=0.01, allow_network=here):
    if visit.is_page:
        print(f"{visit.relevance:.2f}  {visit.title}")

frame = lycosa.open("reefs").to_pandas()
print(frame.nlargest(5, "relevance")[["relevance", "title", "text"]])
