import { isDeepStrictEqual } from 'node:util'
import { array, constantFrom, sample } from 'fast-check'
import { ApiError, KubeApi } from '../../lab/cluster/kube-api.ts'
import { atOnce } from '../../src/kit/semaphore.ts'
import { settleAll } from '../../src/kit/settle-all.ts'
import {
  good,
  mutations,
  type Sketch,
  sketcher,
  wronged,
} from '../../src/pki/testing/fake-serving-requests.ts'
import { clientOf } from './client-certificate.ts'
import { signingRequest, signingRequests } from './signing-requests.ts'
import type { UpCluster } from './up-cluster.ts'

const anybody = 'anybody-may-ask'

/**
 * Asks for so many certificates of which none may be given, each as whoever it says that asks: they have certificates of the
 * cluster's own authority, and the right to ask. Says how many the API took.
 */
export async function askForRogues(
  { api, hosts, identity }: UpCluster,
  count: number,
  seed: number,
): Promise<number> {
  const w1 = hosts.find(({ name }) => name === 'w1')
  const names = [...good.names.slice(0, 1), { type: 'ip', value: w1?.address ?? '' } as const]
  const begin: Sketch = { ...good, names }
  const wrongs = array(constantFrom(...Object.keys(mutations)), { minLength: 1, maxLength: 4 })
  const sketches = sample(wrongs, { numRuns: 2 * count, seed })
    .map((some) => wronged(begin, some))
    .filter((sketch) => !isDeepStrictEqual(sketch, begin))
    .slice(0, count)
  if (sketches.length < count) throw new Error('too many of them are what they were')
  await letAnybodyAsk(api)
  await using askers = new Askers(`https://${hosts[0]?.address}:6443`, identity)
  const requestOf = await sketcher()
  const oneOf = atOnce(8)
  const taken = await settleAll(
    sketches.map(async (sketch, index) =>
      oneOf(async () => {
        const { username, groups, signer, usages, request } = await requestOf(sketch)
        const wish = { signerName: signer, usages, request }
        const asker = await askers.of(username, groups)
        return asker.create(signingRequests, signingRequest(`rogue-${index}`, wish)).then(
          () => true,
          (error: unknown) => {
            if (error instanceof ApiError && error.status < 500) return false
            throw error
          },
        )
      }),
    ),
  )
  return taken.filter(Boolean).length
}

async function letAnybodyAsk(api: KubeApi): Promise<void> {
  const group = 'rbac.authorization.k8s.io'
  const rule = {
    apiGroups: ['certificates.k8s.io'],
    resources: ['certificatesigningrequests'],
    verbs: ['create'],
  }
  const about = { apiVersion: `${group}/v1`, metadata: { name: anybody } }
  await api.ensure(`/apis/${group}/v1/clusterroles`, { ...about, kind: 'ClusterRole', rules: [rule] })
  await api.ensure(`/apis/${group}/v1/clusterrolebindings`, {
    ...about,
    kind: 'ClusterRoleBinding',
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: anybody },
    subjects: [{ apiGroup: group, kind: 'Group', name: 'system:authenticated' }],
  })
}

/** One client for everybody who asks. */
class Askers implements AsyncDisposable {
  readonly #server: string
  readonly #identity: UpCluster['identity']
  readonly #known = new Map<string, Promise<KubeApi>>()

  constructor(server: string, identity: UpCluster['identity']) {
    this.#server = server
    this.#identity = identity
  }

  async of(username: string, groups: readonly string[]): Promise<KubeApi> {
    const key = JSON.stringify([username, groups])
    const known = this.#known.get(key) ?? this.#make(username, groups)
    this.#known.set(key, known)
    return known
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of this.#known.values()) (await one).close()
  }

  async #make(username: string, groups: readonly string[]): Promise<KubeApi> {
    // That they are known at all the API says by itself.
    const own = groups.filter((group) => group !== 'system:authenticated')
    return new KubeApi(this.#server, await clientOf(this.#identity, 'kubernetes', username, own))
  }
}
