import { z } from 'zod'

const milliseconds = z.int().min(1)

/** How to find out. Files are named by their path on the host, so that a renewed certificate is simply read again. */
const check = z.discriminatedUnion('kind', [
  /** The supervisor says that it runs. */
  z.strictObject({ kind: z.literal('service') }),
  z.strictObject({
    kind: z.literal('http'),
    url: z.url({ protocol: /^https?$/ }),
    authority: z.string().optional(),
    /** Of the client, where the server wants to know who asks. */
    credentials: z.strictObject({ certificate: z.string(), privateKey: z.string() }).optional(),
  }),
  /** The container runtime says that it and its network are ready. */
  z.strictObject({ kind: z.literal('cri'), endpoint: z.string() }),
  /** A network interface is there and up. */
  z.strictObject({ kind: z.literal('interface'), name: z.string() }),
  /** A Windows host network of this name and type is there. */
  z.strictObject({ kind: z.literal('hns-network'), name: z.string(), type: z.enum(['overlay', 'l2bridge']) }),
  z.strictObject({ kind: z.literal('file'), path: z.string() }),
])

/**
 * A question about one component. A local one asks whether the component itself is well, and only a local one that
 * fails may lead to a restart; a remote one asks about the world and is reported.
 */
export const probe = z.strictObject({
  name: z.string().min(1),
  scope: z.enum(['local', 'remote']),
  check,
  every: milliseconds,
  timeout: milliseconds,
  /** How many failures in a row count as one. */
  failures: z.int().min(1),
})
export type Probe = z.infer<typeof probe>
