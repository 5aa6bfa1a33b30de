/** Flags of a program by name, without leading dashes. */
export type Args = Readonly<Record<string, string>>

/** Flags whose values are lists. User values are added to the defaults instead of replacing them. */
const listFlags = new Set(['enable-admission-plugins', 'disable-admission-plugins', 'feature-gates'])

/** Merges user flags over the default flags. The result is sorted by name. */
export function mergeArgs(defaults: Args, ...overrides: readonly (Args | undefined)[]): Args {
  const merged = overrides.reduce<Record<string, string>>(
    (args, more) => {
      for (const [name, value] of Object.entries(more ?? {})) {
        const current = args[name]
        args[name] = current !== undefined && listFlags.has(name) ? joinLists(current, value) : value
      }
      return args
    },
    { ...defaults },
  )
  return Object.fromEntries(Object.entries(merged).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Joins two comma-separated lists. If both set the same feature gate, the later value wins. */
function joinLists(defaults: string, overrides: string): string {
  const entries = [...defaults.split(','), ...overrides.split(',')]
    .map((entry) => entry.trim())
    .filter(Boolean)
  return [...new Map(entries.map((entry) => [entry.split('=')[0], entry])).values()].join(',')
}

/**
 * Formats flags as --name=value. With a space instead of =, a program would read a value with a leading dash
 * as a flag.
 */
export function toFlags(args: Args): string[] {
  return Object.entries(args).map(([name, value]) => `--${name}=${value}`)
}

/**
 * TLS 1.2 cipher suites with forward secrecy and authenticated encryption. TLS 1.3 needs no such list,
 * because all its suites have both properties.
 */
export const tlsCipherSuites: readonly string[] = [
  'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256',
  'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256',
]

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
