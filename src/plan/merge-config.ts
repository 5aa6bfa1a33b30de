type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = Readonly<Record<string, Json>>

/** Merges configurations: maps are merged recursively, all other values are replaced. */
export function mergeConfig(base: JsonObject, ...overrides: readonly (JsonObject | undefined)[]): JsonObject {
  return overrides.reduce<JsonObject>((merged, override) => mergeMaps(merged, override ?? {}), base)
}

function mergeMaps(base: JsonObject, overrides: JsonObject): JsonObject {
  const entries = Object.entries(overrides).map(([key, value]) => {
    const current = Object.hasOwn(base, key) ? base[key] : undefined
    return [key, isMap(current) && isMap(value) ? mergeMaps(current, value) : value] as const
  })
  return { ...base, ...Object.fromEntries(entries) }
}

function isMap(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
