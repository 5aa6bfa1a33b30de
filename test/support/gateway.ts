import { request } from 'node:http'
import { probe } from '../../lab/bench/workload.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import type { UpCluster } from './up-cluster.ts'

const gatewayVersion = 'gateway.networking.k8s.io/v1'
export const gatewayPath = `/apis/${gatewayVersion}/namespaces/default`
export const ingressPath = '/apis/networking.k8s.io/v1/namespaces/default/ingresses'

/** A Gateway of a user, with a host name of its own. */
export const userGateway = {
  apiVersion: gatewayVersion,
  kind: 'Gateway',
  metadata: { name: 'mine' },
  spec: {
    gatewayClassName: 'traefik',
    listeners: [{ name: 'http', port: 80, protocol: 'HTTP', hostname: 'mine.example' }],
  },
}

/** Builds a route that replaces the prefix /app by /, the equivalent of nginx's rewrite-target. */
export function buildRoute(name: string, parentRef: object): object {
  return {
    apiVersion: gatewayVersion,
    kind: 'HTTPRoute',
    metadata: { name },
    spec: {
      parentRefs: [parentRef],
      hostnames: [`${name}.example`],
      rules: [
        {
          matches: [{ path: { type: 'PathPrefix', value: '/app' } }],
          filters: [
            {
              type: 'URLRewrite',
              urlRewrite: { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/' } },
            },
          ],
          backendRefs: [{ name: probe.name, port: 80 }],
        },
      ],
    },
  }
}

/** Builds an Ingress for the host NAME.example with one path and annotations of ingress-nginx. */
export function buildNginxIngress(
  name: string,
  className: string | undefined,
  path: string,
  annotations: Readonly<Record<string, string>>,
): object {
  const prefixed = Object.entries(annotations).map(([key, value]) => [
    `nginx.ingress.kubernetes.io/${key}`,
    value,
  ])
  const backend = { service: { name: probe.name, port: { number: 80 } } }
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name, annotations: Object.fromEntries(prefixed) },
    spec: {
      ...(className === undefined ? {} : { ingressClassName: className }),
      rules: [
        {
          host: `${name}.example`,
          http: { paths: [{ path, pathType: 'ImplementationSpecific', backend }] },
        },
      ],
    },
  }
}

export interface HttpResponse {
  readonly status: number
  readonly body: string
  readonly allowedOrigin: string | undefined
}

/** Requests a path of a host name from Traefik on cp1. Undefined if Traefik does not respond. */
async function requestFromTraefik(
  { hosts }: UpCluster,
  host: string,
  path: string,
): Promise<HttpResponse | undefined> {
  const [controlPlane] = hosts
  const headers = { host, origin: 'https://shop.example' }
  return new Promise((resolve) => {
    const outgoing = request(
      { host: controlPlane?.address ?? '', path, headers, agent: false, timeout: 5000 },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            body: Buffer.concat(chunks).toString(),
            allowedOrigin: response.headers['access-control-allow-origin'],
          }),
        )
      },
    )
    outgoing.on('error', () => resolve(undefined))
    outgoing.on('timeout', () => outgoing.destroy())
    outgoing.end()
  })
}

/** Waits until Traefik responds with this status, and returns the response and the time it took. */
export async function waitForResponse(
  cluster: UpCluster,
  host: string,
  path: string,
  status: number,
): Promise<HttpResponse & { readonly milliseconds: number }> {
  const began = performance.now()
  const response = await pollUntil(
    `${host}${path} to respond with ${status}`,
    async () => {
      const found = await requestFromTraefik(cluster, host, path)
      return found?.status === status && found
    },
    { timeoutMs: 60_000, intervalMs: 100 },
  )
  return { ...response, milliseconds: Math.round(performance.now() - began) }
}
