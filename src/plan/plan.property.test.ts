import { assert, constant, nat, pre, property, record, shuffledSubarray } from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ComponentPlan } from '../contract/component-plan.ts'
import { hasErrors } from '../contract/finding.ts'
import { nodePlanFormat } from '../contract/node-plan.ts'
import { createIdentity } from '../identity/identity.ts'
import { toPublicIdentity } from '../identity/public-identity.ts'
import { secretFiles } from '../identity/secret-files.ts'
import { Secret } from '../pki/secret.ts'
import { arbitraryInputs } from './testing/arbitraries.ts'
import { buildPlanInput } from './testing/fixtures.ts'
import { planCluster } from './plan.ts'
import type { PlanInput } from './context.ts'

function bytes(input: PlanInput): string {
  return JSON.stringify(planCluster(input))
}

function withHosts(input: PlanInput, hosts: PlanInput['cluster']['spec']['hosts']): PlanInput {
  const cluster = { ...input.cluster, spec: { ...input.cluster.spec, hosts } }
  return { ...input, cluster }
}

describe('a plan', () => {
  test('is created for every generated cluster and matches its schema', () => {
    assert(
      property(arbitraryInputs, (input) => {
        const { plans, findings } = planCluster(input)
        expect(hasErrors(findings) ? findings : plans.length).toBe(input.cluster.spec.hosts.length)
        for (const plan of plans) expect(nodePlanFormat.newest.schema.parse(plan)).toEqual(plan)
      }),
    )
  })

  test('is equal for equal input and does not depend on the order of hosts', () => {
    const withShuffle = arbitraryInputs.chain((input) =>
      record({
        input: constant(input),
        hosts: shuffledSubarray([...input.cluster.spec.hosts], {
          minLength: input.cluster.spec.hosts.length,
        }),
      }),
    )
    assert(
      property(withShuffle, ({ input, hosts }) => {
        const first = bytes(input)
        expect(bytes(input)).toBe(first)
        expect(bytes(withHosts(input, hosts))).toBe(first)
      }),
    )
  })

  test('of a host does not change when a worker is removed', () => {
    assert(
      property(arbitraryInputs, (input) => {
        const hosts = input.cluster.spec.hosts
        const workers = hosts.filter(({ roles }) => roles.every((role) => role === 'worker'))
        pre(workers.length > 0)
        const [removed] = workers
        const before = planCluster(input).plans.filter(({ host }) => host !== removed?.name)
        const after = planCluster(
          withHosts(
            input,
            hosts.filter((host) => host !== removed),
          ),
        ).plans
        expect(JSON.stringify(after)).toBe(JSON.stringify(before))
      }),
    )
  })

  test('of a host does not change when another host is unreachable', () => {
    assert(
      property(arbitraryInputs, nat(), (input, turn) => {
        const { hosts } = input.cluster.spec
        const unreachable = hosts[turn % hosts.length]?.name ?? ''
        const facts = new Map([...input.facts].filter(([name]) => name !== unreachable))
        const { plans, findings } = planCluster({ ...input, facts })
        pre(!hasErrors(findings))
        const others = planCluster(input).plans.filter(({ host }) => host !== unreachable)
        expect(JSON.stringify(plans)).toBe(JSON.stringify(others))
      }),
    )
  })

  test('creates every file that it refers to', () => {
    assert(
      property(arbitraryInputs, (input) => {
        for (const { components } of planCluster(input).plans) {
          for (const component of components) expect(missingFiles(component)).toEqual([])
        }
      }),
    )
  })

  test('contains no secret', async () => {
    const identity = {
      ...(await createIdentity('random', new Date(0))),
      secrets: { puller: new Secret('puller', 'correct horse battery staple') },
    }
    const files = secretFiles(identity, {
      registries: [{ host: 'ghcr.io', username: 'puller', password: 'puller' }],
      proxy: { https: 'http://proxy.example.com:3128', username: 'puller', password: 'puller' },
    })
    const secrets = [...files.values(), ...Object.values(identity.secrets), identity.encryptionKey].flatMap(
      spellings,
    )
    const known = toPublicIdentity(identity, files)
    assert(
      property(arbitraryInputs, (input) => {
        const text = bytes({ ...buildPlanInput(input.cluster), identity: known })
        for (const secret of secrets) expect(text.includes(secret)).toBe(false)
      }),
    )
  })
})

/**
 * Lists files in hyperkube's directories that the settings of a component refer to, but that its plan does
 * not create.
 */
function missingFiles({
  files,
  certificates,
  derivedFiles,
  directories,
  artifacts,
  service,
}: ComponentPlan): string[] {
  const made = new Set([
    ...files.map(({ path }) => path),
    ...derivedFiles.map(({ path }) => path),
    ...certificates.flatMap(({ certificateFile, keyFile }) => [certificateFile, keyFile]),
    ...directories.map(({ path }) => path),
    ...artifacts.map(({ directory }) => directory),
  ])
  const texts = [
    ...(service?.supervisor === 'systemd' ? [service.unit] : []),
    ...files.flatMap(({ content }) => (content.kind === 'text' ? [content.text] : [])),
  ]
  const named = texts.flatMap((text) =>
    [...text.matchAll(/(?:\/etc|\/opt)\/hyperkube\/[\w.@/-]+/g)].map(([path]) => path),
  )
  return [...new Set(named)].filter(
    (path) =>
      !path.startsWith('/opt/hyperkube/current/') &&
      !made.has(path) &&
      !artifacts.some(({ directory }) => path.startsWith(`${directory}/`)) &&
      !path.endsWith('/login-'),
  )
}

/** Lists forms in which a secret could leak: single lines, escaped text and common encodings. */
function spellings(secret: Secret): string[] {
  const text = secret.revealText()
  const bytesOf = Buffer.from(secret.reveal())
  const lines = text.split('\n').filter((line) => line.length > 20 && !/^-----|: |version|plugins/.test(line))
  return [...lines, JSON.stringify(text).slice(1, -1), bytesOf.toString('base64'), bytesOf.toString('hex')]
}
