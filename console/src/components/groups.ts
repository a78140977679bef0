/** Items by a key they have in common, in the order they came. */

export function grouped<Item, Key>(
  items: ReadonlyArray<Item>,
  keyOf: (item: Item) => Key,
): ReadonlyMap<Key, ReadonlyArray<Item>> {
  const groups = new Map<Key, Item[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
