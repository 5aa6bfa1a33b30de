type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = Readonly<Record<string, Json>>

/** A piece of configuration over another one: maps are joined, everything else is replaced. */
export function mergeConfig(below: JsonObject, ...above: readonly (JsonObject | undefined)[]): JsonObject {
  return above.reduce<JsonObject>((merged, more) => joined(merged, more ?? {}), below)
}

function joined(below: JsonObject, above: JsonObject): JsonObject {
  const entries = Object.entries(above).map(([key, value]) => {
    const old = Object.hasOwn(below, key) ? below[key] : undefined
    return [key, isMap(old) && isMap(value) ? joined(old, value) : value] as const
  })
  return { ...below, ...Object.fromEntries(entries) }
}

function isMap(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
