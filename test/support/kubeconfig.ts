import { parse } from 'yaml'
import { z } from 'zod'
import type { Credentials } from '../../lab/cluster/kube-api.ts'

const base64 = z.base64().transform((text) => Buffer.from(text, 'base64').toString('utf8'))
const schema = z.looseObject({
  clusters: z
    .array(z.looseObject({ cluster: z.looseObject({ 'certificate-authority-data': base64 }) }))
    .min(1),
  users: z
    .array(
      z.looseObject({
        user: z.looseObject({ 'client-certificate-data': base64, 'client-key-data': base64 }),
      }),
    )
    .length(1),
})

/** Reads the credentials of a kubeconfig. */
export function parseKubeconfig(text: string): Credentials {
  const { clusters, users } = schema.parse(parse(text))
  const [cluster, user] = [clusters[0]?.cluster, users[0]?.user]
  if (cluster === undefined || user === undefined) throw new Error('this kubeconfig has no user')
  return {
    ca: cluster['certificate-authority-data'],
    certificate: user['client-certificate-data'],
    key: user['client-key-data'],
  }
}
