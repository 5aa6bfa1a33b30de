import { diffPlan } from '../../diff/diff.ts'
import { parseTestCluster, buildPlanInput } from '../../plan/testing/fixtures.ts'
import { planCluster } from '../../plan/plan.ts'
import { noLiveHosts } from './fixtures.ts'
import { planRollout } from '../rollout.ts'

/** Measures the time and memory for planning a cluster with this number of hosts. */
function measure(count: number): object {
  const input = buildPlanInput(parseTestCluster(clusterText(count)))
  const begin = moment()
  const { plans } = planCluster(input)
  const planned = moment()
  const ops = new Map(plans.map((plan) => [plan.host, diffPlan(plan, [])]))
  const compared = moment()
  const { steps } = planRollout({
    plans,
    ops,
    live: noLiveHosts,
    unreachable: [],
    desiredRoles: new Map(),
    removedHosts: [],
    maxUnavailable: '10%',
    currentKubelets: new Map(),
  })
  const ended = moment()
  return {
    hosts: plans.length,
    steps: steps.length,
    planAndRollout: took(begin, planned) + took(compared, ended),
    diff: took(planned, compared),
    reference: measureReference(),
    // maxRSS is in kilobytes.
    megabytes: process.resourceUsage().maxRSS / 1024,
  }
}

/**
 * Measures a fixed amount of similar work. Its result shows how fast the machine is at the moment,
 * so that a limit can be a ratio of two times of one process.
 */
function measureReference(): number {
  const text = JSON.stringify(
    Array.from({ length: 1000 }, (_, index) => ({ name: `h${index}`, roles: ['worker'], index })),
  )
  const begin = moment()
  let length = 0
  for (let round = 0; round < 400; round += 1) {
    const copies = parseHosts(text).map((host, index) => ({ ...host, name: `${host.name}-${index}` }))
    length += JSON.stringify(copies).length
  }
  if (length === 0) throw new Error('the reference work was skipped')
  return took(begin, moment())
}

function parseHosts(text: string): { name: string }[] {
  return JSON.parse(text)
}

/** Reads the wall clock and the CPU time of this process, in milliseconds. */
function moment(): readonly [clock: number, processor: number] {
  const { user, system } = process.cpuUsage()
  return [performance.now(), (user + system) / 1000]
}

/**
 * Returns the smaller of wall time and CPU time. Wall time includes waiting for other processes on a busy
 * machine. CPU time counts parallel threads of this process several times.
 */
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
