import lycosa

visits = lycosa.watch("reefs", requests=20, per_hour=36_000, now=["coral-reefs"])
for visit in visits:
    change = lycosa.change_of(visit)
    if change is None:
        print("as it was  ", visit.url)
    elif change.matters:
        print(f"{change.what:11}", visit.url, *change.says)
