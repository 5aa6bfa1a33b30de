import { expect, test } from 'vitest'
import { readFleet } from './read-fleet.ts'

const head = `apiVersion: hyperkube.dev/v1
kind: Fleet
metadata: { name: retail }
`

function read(spec: string): ReturnType<typeof readFleet> {
  return readFleet({ file: 'fleet.yml', text: `${head}spec:\n${spec}` })
}

function listFindings(spec: string): string[] {
  const result = read(spec)
  return result.ok
    ? []
    : result.findings.map(
        ({ code, path, position }) => `${code} ${path} ${position?.line}:${position?.column}`,
      )
}

test('a fleet has default waves', () => {
  const result = read('  clusters: [clusters/*/cluster.yml]\n')
  expect(result.ok && result.fleet.spec.rollout).toEqual({
    waves: [1, '10%', '50%', '100%'],
    parallel: 5,
    maxFailed: 0,
    pause: 0,
  })
})

test('all problems are reported at once, with their positions', () => {
  expect(
    listFindings(`  clusters: [/etc/cluster.yml, ../other/cluster.yml]
  defaults:
    - select: { stage: 7 }
      values:
        kubernetes: 1.37.1
        components: { kubelet: { maxPodz: 100 } }
  rollout: { waves: [0, 120%], pause: soon }
`),
  ).toEqual([
    'SPEC_WRONG_VALUE spec.clusters[0] 5:14',
    'SPEC_WRONG_VALUE spec.clusters[1] 5:32',
    'SPEC_WRONG_TYPE spec.defaults[0].select.stage 7:24',
    'FLEET_NOT_INHERITED spec.defaults[0].values.kubernetes 9:9',
    'SPEC_UNKNOWN_KEY spec.defaults[0].values.components.kubelet.maxPodz 10:34',
    'SPEC_WRONG_VALUE spec.rollout.waves[0] 11:22',
    'SPEC_WRONG_VALUE spec.rollout.waves[1] 11:25',
    'SPEC_WRONG_VALUE spec.rollout.pause 11:39',
  ])
})

test('a default may contain a part of a section, which each cluster.yml completes', () => {
  expect(
    listFindings(`  clusters: [cluster.yml]
  defaults: [{ values: { etcd: { backup: { s3: { endpoint: https://s3.example.com } } } } }]
`),
  ).toEqual([])
})
