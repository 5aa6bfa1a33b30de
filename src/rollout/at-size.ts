import { diff } from '../diff/diff.ts'
import { clusterOf, planInput } from '../plan/fixtures.ts'
import { planCluster } from '../plan/plan.ts'
import { nothing } from './fixtures.ts'
import { rollout } from './rollout.ts'

/** For tests, as a program of its own: how long a cluster of so many hosts takes, and how much memory. */
function measure(count: number): object {
  const input = planInput(clusterOf(clusterText(count)))
  const begin = performance.now()
  const { plans } = planCluster(input)
  const planned = performance.now()
  const ops = new Map(plans.map((plan) => [plan.host, diff(plan, [])]))
  const compared = performance.now()
  const { steps } = rollout({
    plans,
    ops,
    live: nothing,
    unreachable: [],
    maxUnavailable: '10%',
    kubeletBefore: new Map(),
  })
  const ended = performance.now()
  return {
    hosts: plans.length,
    steps: steps.length,
    planAndRollout: planned - begin + (ended - compared),
    diff: compared - planned,
    // Kilobytes, as the system counts them.
    megabytes: process.resourceUsage().maxRSS / 1024,
  }
}

function clusterText(count: number): string {
  const hosts = Array.from({ length: count }, (_, index) => {
    const role = index < 3 ? 'control-plane' : 'worker'
    return `    - { name: h${index}, address: 10.0.${index >> 8}.${index & 255}, roles: [${role}] }\n`
  })
  return `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: large }
spec:
  kubernetes: 1.37.1
  network: { pods: 172.0.0.0/11, services: 172.64.0.0/20 }
  hosts:
${hosts.join('')}`
}

process.stdout.write(JSON.stringify(measure(Number(process.argv[2]))))
