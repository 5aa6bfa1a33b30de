import { z } from 'zod'
import { HyperkubeError } from '../../kit/errors.ts'
import { readAllText } from './read-all.ts'
import { fetchBytes } from './follow-redirects.ts'
import type { RegistryTransport } from './transport.ts'

const tokenResponse = z.object({
  token: z.string().min(1).optional(),
  access_token: z.string().min(1).optional(),
})
const maxTokenBytes = 1 << 16

/** Fetches a token for anonymous access. Most registries require one. */
export async function fetchAnonymousToken(
  transport: RegistryTransport,
  challenge: string | undefined,
  at: string,
  signal: AbortSignal,
): Promise<string> {
  const { realm, ...scope } = readChallenge(challenge ?? '')
  const url = realm === undefined ? null : URL.parse(realm)
  if (url === null) throw noToken(at, 'it wants a login')
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && at.startsWith('http:'))) {
    throw noToken(at, `it sends us to ${realm} without encryption`)
  }
  for (const name of ['service', 'scope'] as const) {
    const value = scope[name]
    if (value !== undefined) url.searchParams.set(name, value)
  }
  const text = await readAllText(await fetchBytes(transport, url.href, signal), url.href, maxTokenBytes)
  const { token, access_token: other } = tokenResponse.safeParse(jsonIn(text)).data ?? {}
  const found = token ?? other
  if (found === undefined) throw noToken(at, `${url.host} gives none`)
  return found
}

/**
 * Parses a header such as Bearer
 * realm="https://auth.example/token",service="registry.example",scope="repository:pause:pull".
 */
function readChallenge(text: string): Readonly<Record<string, string | undefined>> {
  if (!/^bearer\s/i.test(text)) return {}
  return Object.fromEntries(
    [...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value]) => [name.toLowerCase(), value]),
  )
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function noToken(at: string, why: string): HyperkubeError {
  return new HyperkubeError('REGISTRY_NO_TOKEN', `${new URL(at).host} allows no anonymous access: ${why}`, {
    hint: 'name a mirror that does, in spec.registries',
  })
}
