import { z } from 'zod'
import type { KubeClient } from '../../kube/client.ts'
import { type Kind, kubeObject, metadata } from '../../kube/object.ts'
import { list } from '../../kube/read-objects.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { hasCertificate } from '../../pki/pem-bundle.ts'
import { type Patience, waitPatiently } from './poll.ts'

/** What pods trust the API by: in every namespace, and in a volume of every pod that has a token. */
export const rootName = 'kube-root-ca.crt'
const within = 120_000

const schema = kubeObject.extend({
  metadata: metadata.extend({
    namespace: z.string(),
    creationTimestamp: z.string(),
    managedFields: z.array(z.looseObject({ time: z.string().optional() })).default([]),
  }),
  data: z.record(z.string(), z.string()).default({}),
})
type Root = z.infer<typeof schema>
const kind: Kind<Root> = { apiVersion: 'v1', kind: 'ConfigMap', schema }

/** Waits until every namespace has a certificate among those that pods trust; since when, by namespace. */
export async function trustedInside(
  api: KubeClient,
  certificate: string,
  patience: Patience,
): Promise<ReadonlyMap<string, number>> {
  const isDone = ({ data }: Root): boolean => hasCertificate(data['ca.crt'] ?? '', certificate)
  const roots = await everywhere(api, isDone, 'to have the new authority', patience)
  return new Map(roots.map((root) => [root.metadata.namespace, lastChange(root.metadata)]))
}

/** Waits until no namespace has it any more. */
export async function distrustedInside(
  api: KubeClient,
  certificate: string,
  patience: Patience,
): Promise<void> {
  const isDone = ({ data }: Root): boolean => !hasCertificate(data['ca.crt'] ?? '', certificate)
  await everywhere(api, isDone, 'to lose the former authority', patience)
}

/** Controllers write it, one namespace after the other, once one of them leads. */
async function everywhere(
  api: KubeClient,
  isDone: (root: Root) => boolean,
  what: string,
  patience: Patience,
): Promise<readonly Root[]> {
  let found: readonly Root[] = []
  const options = { fields: `metadata.name=${rootName}`, signal: patience.signal }
  await waitPatiently(
    patience,
    within,
    async () => {
      found = (await list(api, kind, options)).items
      const left = found.filter((root) => !isDone(root)).length
      if (found.length === 0) return 'controllers to tell pods whom to trust'
      return left === 0 ? undefined : `${left} of ${found.length} namespaces ${what}`
    },
    (reason) =>
      new HyperkubeError('KEYS_NOT_PUBLISHED', `waited two minutes for ${reason}`, {
        hint: 'on control planes: journalctl -u kube-controller-manager -n 50; then the same command again',
      }),
  )
  return found
}

function lastChange({ managedFields, creationTimestamp }: Root['metadata']): number {
  const times = managedFields.flatMap(({ time }) => time ?? [])
  return Math.max(...[creationTimestamp, ...times].map((time) => Date.parse(time)))
}
