import { z } from 'zod'
import type { Cluster } from './cluster.ts'
import { problem, type Problem } from './problem.ts'
import { secretReference } from './scalars.ts'

const proxyUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })

/** An entry of NO_PROXY. It becomes part of a unit, so it must not contain separators or quotes. */
const bypassEntry = z
  .string()
  .regex(/^[A-Za-z0-9.:*_[\]/-]+$/, 'must be an address, a network, a host name or a domain such as .example')

export const proxySchema = z
  .strictObject({
    http: proxyUrl.optional().meta({ description: 'Proxy for http URLs.' }),
    https: proxyUrl.optional().meta({ description: 'Proxy for https URLs. It usually begins with http://.' }),
    no: z.array(bypassEntry).default([]).meta({
      description:
        'Targets that are reached without the proxy: addresses, networks (CIDR), host names, domains. hyperkube adds those of the cluster.',
    }),
    username: z.string().min(1).optional(),
    password: secretReference.optional(),
    ca: z.string().min(1).optional().meta({
      description:
        'File with CA certificates (PEM) beside cluster.yml, for a proxy that decrypts TLS. They are trusted for all downloads and images.',
    }),
  })
  .meta({
    id: 'Proxy',
    description:
      'HTTP proxy for downloads of `hyperkube` and of agents, and for containerd. Pods and other services do not get it.',
  })
export type ProxySpec = z.infer<typeof proxySchema>

/** Entries for targets that no cluster reaches through a proxy: loopback addresses. */
const loopback = ['localhost', '127.0.0.0/8', '::1']

/**
 * Lists the targets that are reached without the proxy. `addresses` are those of hosts. Entries of
 * cluster.yml come last.
 */
export function listProxyBypass({ spec }: Cluster, addresses: readonly string[]): readonly string[] {
  const { pods, services, domain } = spec.network
  const endpoint = spec.api.endpoint?.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')
  return [
    ...new Set([
      ...loopback,
      ...pods,
      ...services,
      '.svc',
      `.${domain}`,
      ...(endpoint === undefined ? [] : [endpoint]),
      ...addresses,
      ...(spec.proxy?.no ?? []),
    ]),
  ]
}

/** Checks the login of the proxy. */
export function checkProxy({ spec }: Cluster): Problem[] {
  const { proxy, hosts } = spec
  if (proxy === undefined) return []
  return [
    ...(['http', 'https'] as const).flatMap((name) => checkProxyUrl(name, proxy[name])),
    ...checkProxyLogin(proxy),
    ...(proxy.password !== undefined && hosts.some(({ os }) => os === 'windows')
      ? [
          problem(
            'SPEC_PROXY_WINDOWS',
            ['spec', 'proxy', 'password'],
            'a proxy with a login is not supported for Windows hosts: all their users could read the password',
            'allow the Windows hosts by address in the proxy, or use an air-gap bundle',
          ),
        ]
      : []),
  ]
}

/** Rejects URLs with a user or password, because cluster.yml and plans must not contain secrets. */
function checkProxyUrl(name: 'http' | 'https', text: string | undefined): Problem[] {
  const url = URL.parse(text ?? '')
  if (url === null || (url.username === '' && url.password === '')) return []
  return [
    problem(
      'SPEC_PROXY_PASSWORD',
      ['spec', 'proxy', name],
      'must not contain a user or a password',
      'set spec.proxy.username and spec.proxy.password: { secret: proxy-password }; then: hyperkube secret set proxy-password',
    ),
  ]
}

function checkProxyLogin({ username, password }: ProxySpec): Problem[] {
  if ((username === undefined) === (password === undefined)) return []
  const missing = username === undefined ? 'username' : 'password'
  return [problem('SPEC_PROXY_LOGIN', ['spec', 'proxy'], `the login of the proxy has no ${missing}`)]
}
