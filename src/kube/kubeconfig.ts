import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import type { Pem } from '../kit/credentials.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { toPrintable } from '../kit/text.ts'
import type { KubeClientOptions } from './client.ts'
import type { KubeCredentials } from './credentials.ts'

const named = z.string().min(1)
const schema = z.looseObject({
  'current-context': named,
  contexts: z.array(z.looseObject({ name: named, context: z.looseObject({ cluster: named, user: named }) })),
  clusters: z.array(
    z.looseObject({
      name: named,
      cluster: z.looseObject({
        server: z.url({ protocol: /^https$/ }),
        'tls-server-name': named.optional(),
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
        token: named.optional(),
        tokenFile: named.optional(),
      }),
    }),
  ),
})

export type KubeApiAccess = Pick<KubeClientOptions, 'servers' | 'serverName' | 'ca' | 'credentials'>

/**
 * Reads server, CA and credentials of the current context. Client certificates and tokens are supported, but
 * not programs that fetch credentials.
 */
export function parseKubeconfig(text: string, file: string): KubeApiAccess {
  const config = schema.safeParse(parseYaml(text, file))
  if (!config.success) {
    const [first] = config.error.issues
    throw buildKubeconfigError(file, `${first?.path.join('.') ?? ''}: ${first?.message ?? ''}`)
  }
  const { contexts, clusters, users, 'current-context': current } = config.data
  const context = contexts.find(({ name }) => name === current)?.context
  const cluster = clusters.find(({ name }) => name === context?.cluster)?.cluster
  const user = users.find(({ name }) => name === context?.user)?.user
  if (cluster === undefined || user === undefined)
    throw buildKubeconfigError(file, `it has no cluster or user for context ${current}`)
  const readPemField = (path: string | undefined, data: string | undefined, field: string): Pem => {
    if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8')
    if (path === undefined) throw buildKubeconfigError(file, `it has no ${field}`)
    return { file: resolve(dirname(file), path) }
  }
  const readCredentials = (): KubeCredentials => {
    // As in kubectl, a file takes precedence over a token in the kubeconfig.
    if (user.tokenFile !== undefined) return { token: { file: resolve(dirname(file), user.tokenFile) } }
    if (user.token !== undefined) return { token: user.token }
    return {
      certificate: readPemField(
        user['client-certificate'],
        user['client-certificate-data'],
        'client-certificate',
      ),
      privateKey: readPemField(user['client-key'], user['client-key-data'], 'client-key'),
    }
  }
  return {
    servers: [cluster.server],
    serverName: cluster['tls-server-name'],
    ca: readPemField(
      cluster['certificate-authority'],
      cluster['certificate-authority-data'],
      'certificate-authority',
    ),
    credentials: readCredentials(),
  }
}

function parseYaml(text: string, file: string): unknown {
  try {
    return parse(text)
  } catch {
    // The parser's message is left out, because it quotes the text, which may contain a private key.
    throw buildKubeconfigError(file, 'it is not YAML')
  }
}

function buildKubeconfigError(file: string, why: string): HyperkubeError {
  return new HyperkubeError('KUBECONFIG_NOT_READ', `${file} is not a valid kubeconfig: ${toPrintable(why)}`)
}
