"""Totals a CSV of transactions by merchant: /in/transactions.csv -> /out/totals.txt. Runs inside the sandbox."""
import csv
import os
from collections import defaultdict
from decimal import Decimal, InvalidOperation

totals, counts, skipped = defaultdict(Decimal), defaultdict(int), 0
with open("/in/transactions.csv", newline="", encoding="utf-8") as f:
    for row in csv.DictReader(f):
        try:
            amount = Decimal(row["amount"])
        except InvalidOperation:
            skipped += 1
            continue
        totals[row["merchant"]] += amount
        counts[row["merchant"]] += 1

os.makedirs("/out", exist_ok=True)
with open("/out/totals.txt", "w", encoding="utf-8") as f:
    for merchant in sorted(totals, key=lambda m: (-totals[m], m)):
        f.write(f"{totals[merchant]:>10.2f}  {counts[merchant]:>3}  {merchant}\n")
    f.write(f"{sum(totals.values()):>10.2f}  {sum(counts.values()):>3}  total, {skipped} damaged record skipped\n")
print(f"read {sum(counts.values()) + skipped} transactions of {len(totals)} merchants")
