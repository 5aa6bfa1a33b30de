import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import type { Pem } from '../kit/credentials.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { printable } from '../kit/printable.ts'
import type { KubeClientOptions } from './client.ts'

const named = z.string().min(1)
const schema = z.looseObject({
  'current-context': named,
  contexts: z.array(z.looseObject({ name: named, context: z.looseObject({ cluster: named, user: named }) })),
  clusters: z.array(
    z.looseObject({
      name: named,
      cluster: z.looseObject({
        server: z.url({ protocol: /^https$/ }),
        'certificate-authority': named.optional(),
        'certificate-authority-data': z.base64().optional(),
      }),
    }),
  ),
  users: z.array(
    z.looseObject({
      name: named,
      user: z.looseObject({
        'client-certificate': named.optional(),
        'client-certificate-data': z.base64().optional(),
        'client-key': named.optional(),
        'client-key-data': z.base64().optional(),
      }),
    }),
  ),
})

export type Access = Pick<KubeClientOptions, 'servers' | 'authority' | 'credentials'>

/** Where its current context leads, and as whom. Only with certificates: our programs have nothing else. */
export function accessOf(text: string, file: string): Access {
  const config = schema.safeParse(documentOf(text, file))
  if (!config.success) {
    const [first] = config.error.issues
    throw unusable(file, `${first?.path.join('.') ?? ''}: ${first?.message ?? ''}`)
  }
  const { contexts, clusters, users, 'current-context': current } = config.data
  const context = contexts.find(({ name }) => name === current)?.context
  const cluster = clusters.find(({ name }) => name === context?.cluster)?.cluster
  const user = users.find(({ name }) => name === context?.user)?.user
  if (cluster === undefined || user === undefined) throw unusable(file, `it has nothing for ${current}`)
  const pem = (path: string | undefined, data: string | undefined, what: string): Pem => {
    if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8')
    if (path === undefined) throw unusable(file, `it has no ${what}`)
    return { file: resolve(dirname(file), path) }
  }
  return {
    servers: [cluster.server],
    authority: pem(
      cluster['certificate-authority'],
      cluster['certificate-authority-data'],
      'certificate-authority',
    ),
    credentials: {
      certificate: pem(user['client-certificate'], user['client-certificate-data'], 'client-certificate'),
      privateKey: pem(user['client-key'], user['client-key-data'], 'client-key'),
    },
  }
}

function documentOf(text: string, file: string): unknown {
  try {
    return parse(text)
  } catch {
    // What the parser says shows a part of the text, and there may be a key in it.
    throw unusable(file, 'it is no YAML')
  }
}

function unusable(file: string, why: string): HyperkubeError {
  return new HyperkubeError('KUBECONFIG_NOT_READ', `${file} is of no use: ${printable(why)}`)
}
