import { z } from 'zod'
import { formatHostPort, parseHostPort } from '../kit/host-port.ts'
import { address, port } from './scalars.ts'

export const apiSchema = z
  .strictObject({
    endpoint: z
      .string()
      .refine(isEndpoint, 'must be HOST:PORT, with brackets around an IPv6 address')
      .optional()
      .meta({
        description:
          'Load balancer or DNS name for clients outside the cluster. Nodes do not need it. Default: `virtualIP` with `port`, if it is set.',
      }),
    virtualIP: z.ipv4('must be an IPv4 address').optional().meta({
      description:
        'Unused IPv4 address in the subnet of the control planes. One control plane with a ready API server has it; keepalived moves it to another within seconds.',
    }),
    port: port.default(6443),
    sans: z
      .array(address)
      .default([])
      .meta({ description: 'Additional names and IP addresses in the certificates of the API servers.' }),
  })
  .meta({ id: 'Api', description: 'Endpoint of the Kubernetes API.' })

type ApiSettings = z.infer<typeof apiSchema>

/** True for HOST:PORT. Without brackets, the last group of an IPv6 address would be taken for the port. */
function isEndpoint(text: string): boolean {
  const { host, port: number } = parseHostPort(text)
  const isValid = address.safeParse(host).success && port.safeParse(number).success
  return isValid && formatHostPort(host, number) === text
}

/** Returns the endpoint for clients outside the cluster, as HOST:PORT. Undefined if there is none. */
export function selectApiEndpoint({ endpoint, virtualIP, port: apiPort }: ApiSettings): string | undefined {
  return endpoint ?? (virtualIP === undefined ? undefined : `${virtualIP}:${apiPort}`)
}

/** Lists the names and addresses of endpoints that all control planes share. */
export function listSharedApiNames({ endpoint, virtualIP }: ApiSettings): string[] {
  return [endpoint === undefined ? undefined : parseEndpointHost(endpoint), virtualIP].filter(
    (one) => one !== undefined,
  )
}

/** Returns the name or address of an endpoint, without the port and the brackets of IPv6. */
export function parseEndpointHost(endpoint: string): string {
  return endpoint.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')
}
