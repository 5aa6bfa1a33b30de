import { diff } from '../../diff/diff.ts'
import { clusterOf, planInput } from '../../plan/testing/fixtures.ts'
import { planCluster } from '../../plan/plan.ts'
import { nothing } from './fixtures.ts'
import { rollout } from '../rollout.ts'

/** For tests, as a program of its own: how long a cluster of so many hosts takes, and how much memory. */
function measure(count: number): object {
  const input = planInput(clusterOf(clusterText(count)))
  const begin = moment()
  const { plans } = planCluster(input)
  const planned = moment()
  const ops = new Map(plans.map((plan) => [plan.host, diff(plan, [])]))
  const compared = moment()
  const { steps } = rollout({
    plans,
    ops,
    live: nothing,
    unreachable: [],
    wished: new Map(),
    leaving: [],
    maxUnavailable: '10%',
    kubeletBefore: new Map(),
  })
  const ended = moment()
  return {
    hosts: plans.length,
    steps: steps.length,
    planAndRollout: took(begin, planned) + took(compared, ended),
    diff: took(planned, compared),
    // Kilobytes, as the system counts them.
    megabytes: process.resourceUsage().maxRSS / 1024,
  }
}

/** In milliseconds: of the clock, and of the processor. */
function moment(): readonly [clock: number, processor: number] {
  const { user, system } = process.cpuUsage()
  return [performance.now(), (user + system) / 1000]
}

/** By the clock; on a machine that is busy with others, by the processor, which counts our own work alone. */
function took(from: ReturnType<typeof moment>, to: ReturnType<typeof moment>): number {
  return Math.min(to[0] - from[0], to[1] - from[1])
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
