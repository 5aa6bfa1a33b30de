import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { setUpCluster } from '../support/suite-cluster.ts'

const [from, to] = ['1.36.4', '1.37.1']
const evidence = join(import.meta.dirname, '../../docs/evidence/rehearsal.md')

/** API that the test enables in 1.36 on purpose, because 1.37 can no longer serve it. */
const removedApi = 'storage.k8s.io/v1beta1'
const clusterNow = setUpCluster('rehearsal', '1+1', from, {
  prepare: async (operator) =>
    operator.edit((document) =>
      document.setIn(['spec', 'components', 'apiServer', 'args', 'runtime-config'], `${removedApi}=true`),
    ),
})

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/**
 * Builds a CRD of the kind Widget. The test creates two of them, because two CRDs with the same kind in one
 * group conflict.
 */
function buildDefinition(plural: string) {
  const schema = { openAPIV3Schema: { type: 'object' } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.planted.example.com` },
    spec: {
      group: 'planted.example.com',
      names: { plural, singular: plural.slice(0, -1), kind: 'Widget', listKind: 'WidgetList' },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  }
}

const report = z.object({
  objects: z.int(),
  steps: z.array(z.object({ version: z.string(), seconds: z.number() })),
  findings: z.array(z.object({ code: z.string(), message: z.string() })),
})

async function rehearse(code: number, ...flags: readonly string[]) {
  const { operator } = clusterNow()
  const { stdout } = await operator.must(code, 'upgrade', '--to', to, '--rehearse', '-o', 'json', ...flags)
  return report.parse(JSON.parse(stdout))
}

/**
 * Counts the requests of operators in the audit logs. Requests of cluster components do not count, because
 * components have other user names.
 */
async function countOperatorRequests(): Promise<number> {
  const [host] = clusterNow().hosts
  if (host === undefined) throw new Error('there are no hosts')
  const { stdout } = await host.script(
    `cat $(find /var/log -name 'audit*.log') | grep '"stage":"ResponseComplete"' | grep -cE '"username":"(hyperkube:[^":]*@|test")' || true`,
  )
  return Number(stdout)
}

test('a rehearsal of a cluster without problems finds none', { timeout: 600_000 }, async () => {
  const { findings, objects, steps } = await rehearse(0)
  expect(findings).toEqual([])
  expect(objects).toBeGreaterThan(100)
  expect(steps.map(({ version }) => version)).toEqual([to])
})

test(
  'a rehearsal finds a removed API, a blocking webhook and a broken CRD',
  { timeout: 600_000 },
  async () => {
    const { api, operator } = clusterNow()
    await api.create(`/apis/${removedApi}/volumeattributesclasses`, {
      apiVersion: removedApi,
      kind: 'VolumeAttributesClass',
      metadata: { name: 'planted' },
      driverName: 'planted.example.com',
      parameters: { tier: 'gold' },
    })
    for (const plural of ['widgets', 'gadgets']) await api.create(definitions, buildDefinition(plural))
    await api.create('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'planted' },
      webhooks: [
        {
          name: 'evictions.planted.example.com',
          clientConfig: { service: { namespace: 'default', name: 'planted' } },
          rules: [
            { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods/eviction'] },
          ],
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          failurePolicy: 'Fail',
        },
      ],
    })
    const before = await countOperatorRequests()
    const started = performance.now()
    const { findings, objects, steps } = await rehearse(1)
    const seconds = (performance.now() - started) / 1000
    const requests = (await countOperatorRequests()) - before
    expect(findings.map(({ code }) => code).toSorted()).toEqual([
      'REHEARSAL_CRD_INVALID',
      'REHEARSAL_CRD_INVALID',
      'REHEARSAL_WEBHOOK_BLOCKS',
      'UPGRADE_API_REMOVED',
    ])
    expect(findings.find(({ code }) => code === 'UPGRADE_API_REMOVED')?.message).toContain(removedApi)
    // The rehearsal reads a snapshot of etcd, so it must not send requests to the API servers.
    expect(requests).toBe(0)
    expect((await operator.must(0, 'plan')).stdout).toContain('nothing to do')
    // This checks the count itself: `plan` sends requests to the API servers, so the count must have
    // increased.
    expect(await countOperatorRequests()).toBeGreaterThan(before)
    const [version = ''] = (await operator.must(0, 'version')).stdout.split('\n')
    await writeFile(
      evidence,
      formatEvidence({ version, objects, seconds, findings, readSeconds: steps[0]?.seconds }),
    )
  },
)

test('with --no-snapshot the newest stored snapshot is used', { timeout: 600_000 }, async () => {
  expect((await rehearse(1, '--no-snapshot')).findings).toHaveLength(4)
})

interface RehearsalEvidence {
  readonly version: string
  readonly objects: number
  readonly seconds: number
  readonly readSeconds: number | undefined
  readonly findings: readonly { readonly code: string; readonly message: string }[]
}

function formatEvidence({ version, objects, seconds, readSeconds, findings }: RehearsalEvidence): string {
  return `# A rehearsed upgrade

Written by \`npm run e2e:full -- test/full/rehearsal.test.ts\` on ${new Date().toISOString().slice(0, 10)}: ${version},
Kubernetes ${from} to ${to}, 1+1 hosts of the lab.

Four faults were planted on a running cluster: an object written with ${removedApi}, which ${to} does not serve; two CRDs
with the same kind; a webhook for evictions whose service does not exist. \`hyperkube upgrade --to ${to} --rehearse\` took
${seconds.toFixed(1)} s for ${objects} objects, of which ${to} took ${readSeconds?.toFixed(1)} s. The API servers of the cluster counted no
request of the operator during that time, and \`plan\` had nothing to do afterwards.

| code | message |
|---|---|
${findings.map(({ code, message }) => `| ${code} | ${message.replaceAll('|', String.raw`\|`)} |`).join('\n')}

The same command before the faults were planted found no problem.
`
}
