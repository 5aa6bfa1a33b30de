import { z } from 'zod'
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
