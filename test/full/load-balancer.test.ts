import { readFile } from 'node:fs/promises'
import { beforeAll, expect, test } from 'vitest'
import { listProbePods } from '../../lab/bench/workload.ts'
import { cacheDirectory } from '../../lab/cache.ts'
import { buildComponents } from '../../lab/components/build.ts'
import { crdsFile, readCrds } from '../../lab/components/crds.ts'
import { selectParts } from '../../lab/components/parts.ts'
import { silentReport } from '../../lab/report.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { fetchPodName } from '../support/address-watch.ts'
import { crash, cutOff, type HostFault, powerCut, shutdown } from '../support/host-faults.ts'
import { writeLoadBalancerEvidence } from '../support/load-balancer-evidence.ts'
import {
  createBalancedService,
  type FailoverRound,
  findServingHost,
  formatPool,
  isInPool,
  lastPoolAddress,
  listArpResponders,
  runFailoverRound,
} from '../support/load-balancer.ts'
import { startRouter } from '../support/gobgp.ts'
import { createRandom, repeatShuffled } from '../support/random.ts'
import { setUpCluster } from '../support/suite-cluster.ts'
import {
  expectNothingToReport,
  expectResetLeavesNothing,
  startPodOnEachNode,
} from '../support/up-expectations.ts'

const shape = process.env['LOAD_BALANCER_SHAPE'] ?? '1+2'
const roundCount = Number(process.env['LOAD_BALANCER_ROUNDS'] ?? 30)
const seed = Number(process.env['LOAD_BALANCER_SEED'] ?? Date.now() % 1_000_000)
const faults = [powerCut, crash, shutdown, cutOff]

const clusterNow = setUpCluster('load-balancer', shape, '1.37.1', {
  parts: ['metallb'],
  survivesPowerCut: true,
  beforeLock: async ({ edit }) =>
    edit((document) => {
      const mirror = String(document.getIn(['spec', 'artifacts', 'mirror']))
      document.addIn(['spec', 'registries'], { host: 'quay.io', mirrors: [mirror] })
      document.setIn(['spec', 'loadBalancer'], { addresses: [formatPool(new URL(mirror).hostname)] })
    }),
})

/** Addresses of Services with the traffic policy Local. Several, so that several hosts serve one. */
let addresses: string[]

beforeAll(async () => {
  await startPodOnEachNode(clusterNow())
  addresses = []
  for (let index = 1; index <= 6; index++)
    addresses.push(await createBalancedService(clusterNow().api, `web-${index}`, 'Local'))
}, 300_000)

test('the CRDs are those of upstream, without descriptions', async () => {
  const [built] = await buildComponents(selectParts(['metallb']), {
    cache: cacheDirectory(),
    report: silentReport,
  })
  if (built === undefined) throw new Error('there is no part metallb')
  expect(JSON.parse(await readFile(crdsFile, 'utf8'))).toEqual(await readCrds(built))
})

test('each Service gets its own address of the pool, and responds outside of the cluster', async () => {
  const { lab, api } = clusterNow()
  expect(new Set(addresses).size).toBe(addresses.length)
  const pods = (await listProbePods(api)).map(({ name }) => name)
  for (const address of addresses) {
    expect(isInPool(lab.gateway, address), address).toBe(true)
    const pod = await pollUntil(`a response of ${address}`, async () => fetchPodName(address), {
      timeoutMs: 60_000,
    })
    expect(pods).toContain(pod)
  }
})

test('exactly one host responds to ARP requests for an address, and it serves the address', async () => {
  for (const address of addresses) {
    const { name } = await findServingHost(clusterNow(), address)
    expect(await listArpResponders(clusterNow(), address), address).toEqual([name])
  }
  const unused = lastPoolAddress(clusterNow().lab.gateway)
  expect(await listArpResponders(clusterNow(), unused)).toEqual([])
})

test('a second plan and status have nothing to report', async () => {
  const { operator } = clusterNow()
  await expectNothingToReport(clusterNow())
  expect((await operator.must(0, 'addon', 'list')).stdout).toMatch(/metallb\s+ready\s+v0\.16\.1/)
})

test(
  'when the serving host fails, another one takes over, and only that one responds',
  async () => {
    const random = createRandom(seed)
    process.stderr.write(`load balancer: seed ${seed}\n`)
    const rounds: FailoverRound[] = []
    const run = async (round: Pick<FailoverRound, 'address' | 'policy'>, fault: HostFault): Promise<void> => {
      const result = await runFailoverRound(clusterNow(), round, fault)
      process.stderr.write(`${JSON.stringify(result)}\n`)
      rounds.push(result)
      await writeLoadBalancerEvidence({ shape, seed, rounds })
      // A host that is cut off from the others, but not from clients, continues to respond.
      const successors = result.responders.filter((name) => fault !== cutOff || name !== result.failed)
      expect(successors).toHaveLength(1)
      expect(successors).not.toContain(result.failed)
      expect(result.respondersAfter).toEqual([result.failed])
    }
    for (const fault of repeatShuffled(faults, roundCount, random)) {
      const address = addresses[Math.floor(random() * addresses.length)] ?? ''
      await run({ address, policy: 'Local' }, fault)
    }
    const address = await createBalancedService(clusterNow().api, 'any', 'Cluster')
    await run({ address, policy: 'Cluster' }, crash)
    const local = rounds.filter(({ policy }) => policy === 'Local')
    expect(Math.max(...local.map(({ outageMs }) => outageMs))).toBeLessThan(30_000)
  },
  (roundCount + 2) * 180_000,
)

const pool = '/apis/metallb.io/v1beta1/namespaces/metallb-system/ipaddresspools/hyperkube'

test('a deleted pool is shown by plan and restored by up', async () => {
  const { operator, api } = clusterNow()
  await api.remove(pool)
  expect((await operator.must(3, 'plan', '--wide')).stdout).toContain(
    '+ IPAddressPool metallb-system/hyperkube',
  )
  await operator.must(0, 'up', '--yes')
  expect((await operator.must(0, 'plan')).stdout).toContain('nothing to do')
  await api.get(pool)
  const [address = ''] = addresses
  await findServingHost(clusterNow(), address)
})

test('with BGP peers the router learns each address from every node, and no host responds to ARP', async () => {
  const { operator, lab, hosts } = clusterNow()
  const asn = { nodes: 64_512, router: 64_513 }
  const neighbors = hosts.map(({ address }) => ({ address, asn: asn.nodes }))
  await using router = await startRouter({ address: lab.gateway, asn: asn.router, neighbors })
  const peers = [{ address: lab.gateway, asn: asn.router }]
  await operator.edit((document) =>
    document.setIn(['spec', 'loadBalancer', 'bgp'], { asn: asn.nodes, peers }),
  )
  const { stdout } = await operator.must(3, 'plan', '--wide')
  expect(stdout).toContain('- L2Advertisement metallb-system/hyperkube')
  expect(stdout).toContain('+ BGPPeer metallb-system/hyperkube-1')
  await operator.must(0, 'up', '--yes')
  const nodes = hosts.map(({ address }) => address).toSorted()
  await pollUntil(
    'routes to all addresses through all nodes',
    async () => {
      const routes = await router.routes()
      return addresses.every((address) => routes.get(address)?.join(' ') === nodes.join(' '))
    },
    { timeoutMs: 120_000, intervalMs: 1000 },
  )
  for (const address of addresses) expect(await listArpResponders(clusterNow(), address)).toEqual([])
})

test('without spec.loadBalancer nothing of MetalLB is left, and no host responds', async () => {
  const { operator, api } = clusterNow()
  await operator.edit((document) => document.deleteIn(['spec', 'loadBalancer']))
  expect((await operator.must(3, 'plan', '--wide')).stdout).toContain(
    '- DaemonSet metallb-system/metallb-speaker',
  )
  await operator.must(0, 'up', '--yes')
  expect((await operator.must(0, 'plan')).stdout).toContain('nothing to do')
  const { items } = await api.get<{ items: { metadata: { name: string } }[] }>(
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  )
  expect(items.map(({ metadata }) => metadata.name).filter((name) => name.includes('metallb'))).toEqual([])
  await expect(api.get('/api/v1/namespaces/metallb-system')).rejects.toThrow('404')
  for (const address of addresses) expect(await listArpResponders(clusterNow(), address)).toEqual([])
})

test('reset restores the initial state of every host', async () =>
  expectResetLeavesNothing(clusterNow(), undefined))
