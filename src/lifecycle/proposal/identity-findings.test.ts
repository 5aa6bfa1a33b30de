import { expect, test } from 'vitest'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import { buildEmptyPlan } from '../../diff/plan-resources.ts'
import { createIdentity, type Identity } from '../../identity/identity.ts'
import { toPublicIdentity } from '../../identity/public-identity.ts'
import { advanceReplacement, type KeyName, keyNames } from '../../identity/replace-key.ts'
import { secretFiles } from '../../identity/secret-files.ts'
import { buildComponentPlan } from '../../plan/context.ts'
import { scriptedSession } from '../testing/scripted-agent.ts'
import { checkIdentityAge, findNewerKeys } from './identity-findings.ts'

const now = new Date('2026-11-15T00:00:00Z')
const original = await createIdentity('shop', now)
const directory = '/etc/hyperkube/kube-apiserver'

/** The part of the plan of a control plane that names keys. */
function buildPlan(identity: Identity): NodePlan {
  const { cas, serviceAccountKeys, tags } = toPublicIdentity(identity, secretFiles(identity))
  const head = { owner: 'root', mode: '0600', restart: false }
  const texts = {
    'ca.crt': cas.kubernetes,
    'etcd-ca.crt': cas.etcd,
    'front-proxy-ca.crt': cas.frontProxy,
    'service-account.pub': serviceAccountKeys,
  }
  const secret = 'encryption-configuration'
  const files = [
    ...Object.entries(texts).map(([name, text]) => ({
      ...{ ...head, path: `${directory}/${name}` },
      content: { kind: 'text' as const, text },
    })),
    {
      ...{ ...head, path: `${directory}/encryption.yaml` },
      content: { kind: 'secret' as const, secret, tag: tags.get(secret) ?? '' },
    },
  ]
  const plan = buildEmptyPlan({ name: 'shop', id: identity.id }, 'cp1')
  return { ...plan, components: [buildComponentPlan({ name: 'kube-apiserver', stage: 'api', files })] }
}

async function* phasesOf(key: KeyName): AsyncGenerator<Identity> {
  let identity = original
  for (let phase = 0; phase < 5; phase++) {
    yield identity
    identity = await advanceReplacement(identity, key, now)
  }
}

test.each(keyNames)('each phase of a rotation of %s accepts the plan of the phase before', async (key) => {
  let last = buildPlan(original)
  for await (const identity of phasesOf(key)) {
    expect(findNewerKeys(identity, last, buildPlan(identity))).toEqual([])
    last = buildPlan(identity)
  }
})

test.each([
  ['kubernetes', 'the kubernetes CA'],
  ['etcd', 'the etcd CA'],
  ['front-proxy', 'the front-proxy CA'],
  ['service-account', 'the service account key'],
  ['encryption', 'the encryption key'],
] as const)('an identity from before a rotation of %s is refused', async (key, name) => {
  const identities = await Array.fromAsync(phasesOf(key))
  const last = buildPlan(identities.at(-1) ?? original)
  expect(findNewerKeys(original, last, buildPlan(original))).toMatchObject([
    {
      code: 'IDENTITY_OUTDATED',
      severity: 'error',
      host: 'cp1',
      message: `cluster.identity is older than the keys of the cluster: it does not have ${name} that the host uses`,
    },
  ])
})

test('the last plan is read only from hosts whose keys would change', async () => {
  const requests: { type: string }[] = []
  const session = scriptedSession('cp1', { run: async function* () {}, requests })
  const plan = buildPlan(original)
  const op = (name: string): Op => ({
    ...{ component: 'kube-apiserver', stage: 'api', action: 'change', target: 'file' },
    ...{ name, because: [] },
  })
  const check = async (name: string): Promise<string[]> => {
    const diffs = new Map([['cp1', { ops: [op(name)] }]])
    await checkIdentityAge(original, [plan], diffs, new Map([['cp1', session]]))
    return requests.splice(0).map(({ type }) => type)
  }
  expect(await check(`${directory}/audit-policy.yaml`)).toEqual([])
  expect(await check(`${directory}/encryption.yaml`)).toEqual(['hello', 'previous-plan'])
  await session.close()
})
