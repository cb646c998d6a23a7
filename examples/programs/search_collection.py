import lycosa

reefs = lycosa.open("reefs")
print(f"{len(reefs)} relevant pages")

for hit in reefs.search('coral "water temperature"', limit=5):
    print(f"{hit.relevance:.2f}  {hit.title}\n      {hit.snippet.text}")

for page in reefs.pages():
    print(len(page.text.split()), "words", page.language, page.url)
