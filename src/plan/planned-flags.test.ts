import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Os } from '../catalog/artifacts.ts'
import { listDefaultVersions } from '../catalog/catalog.ts'
import { checkArgs } from '../catalog/check-args.ts'
import { findFlags } from '../catalog/known-flags.ts'
import type { ProgramName } from '../catalog/program-flags.ts'
import type { ComponentPlan } from '../contract/component-plan.ts'
import { shippedCatalog } from '../catalog/shipped-catalog.ts'
import { buildPlanInput, parseTestCluster } from './testing/fixtures.ts'
import { planCluster } from './plan.ts'

const programs: readonly ProgramName[] = [
  'etcd',
  'flanneld',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-proxy',
  'kube-scheduler',
  'kubelet',
]
const examples = join(import.meta.dirname, '../../examples')
const readExample = (name: string): string => readFileSync(join(examples, `${name}.yml`), 'utf8')

/** Returns the flags in the command of a service, without dashes. */
function readCommandFlags({ service }: ComponentPlan): Readonly<Record<string, string>> {
  const words =
    service?.supervisor === 'scm' ? service.arguments : (service?.unit ?? '').match(/(?<=^ {2}"?)--\S+/gm)
  return Object.fromEntries((words ?? []).map((word) => splitFlag(word.replace(/( \\|")+$/, ''))))
}

function splitFlag(word: string): readonly [string, string] {
  const [, flag = '', value = ''] = /^--([^=]+)=(.*)$/.exec(word) ?? []
  return [flag, value]
}

test.each(listDefaultVersions(shippedCatalog))('Kubernetes %s accepts all planned flags', (version) => {
  const checked = new Set<string>()
  for (const name of ['high-availability', 'windows']) {
    const cluster = parseTestCluster(
      readExample(name).replace(/kubernetes: [\d.]+/, `kubernetes: ${version}`),
    )
    const { plans } = planCluster(buildPlanInput(cluster))
    for (const { host, components } of plans) {
      const os: Os = cluster.spec.hosts.find((one) => one.name === host)?.os ?? 'linux'
      for (const program of programs) {
        const component = components.find((one) => one.name === program)
        if (component === undefined) continue
        const flags = readCommandFlags(component)
        expect(Object.keys(flags).length, `${host} ${program}`).toBeGreaterThan(1)
        const known = findFlags(shippedCatalog.flags, program, component.version ?? '')
        expect(known, `${program} ${component.version}`).toBeDefined()
        expect(checkArgs(shippedCatalog, program, flags, version, os), `${host} ${program}`).toEqual([])
        checked.add(`${os} ${program}`)
      }
    }
  }
  expect(checked.size).toBe(programs.length + 3)
})
