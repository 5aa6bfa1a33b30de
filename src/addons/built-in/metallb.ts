import { z } from 'zod'
import type { Manifest } from '../../kube/object.ts'
import type { LoadBalancerSettings } from '../../spec/load-balancer.ts'
import { type AddonDefinition, findAddonImage } from './addon-definition.ts'
import { buildAppLabels } from './manifest-helpers.ts'
import metallbCrds from './metallb-crds.json' with { type: 'json' }
import { buildMetallbMetadata, buildMetallbRbac, metallbNamespace, speakerApp } from './metallb-rbac.ts'
import { buildController, buildSpeaker, excludedInterfacesConfig } from './metallb-workloads.ts'

const crdSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
})

/** Name of the pool and of its advertisement. */
const poolName = 'hyperkube'
const group = 'metallb.io'

/**
 * MetalLB without its webhook: hyperkube checks the pool before it writes the objects. The webhook would need
 * a certificate, permission to change CRDs, and a running controller whenever the pool changes.
 */
export const metallb: AddonDefinition = {
  name: 'metallb',
  description: 'addresses of LoadBalancer services',
  setting: 'loadBalancer',
  images: ['metallb-controller', 'metallb-speaker'],
  buildManifests(input) {
    const { loadBalancer } = input.cluster.spec
    if (loadBalancer === 'none') return []
    return [
      ...z.array(crdSchema).parse(metallbCrds),
      buildNamespace(),
      ...buildMetallbRbac(),
      buildExcludedInterfaces(),
      buildController(loadBalancer, findAddonImage(input, 'metallb-controller')),
      buildSpeaker(loadBalancer, findAddonImage(input, 'metallb-speaker')),
      ...buildPool(loadBalancer),
    ]
  },
}

/**
 * MetalLB has its own namespace, because a speaker reads all Secrets of its namespace, and root on any node
 * can use the token of the speaker.
 */
function buildNamespace(): Manifest {
  const levels = ['enforce', 'audit', 'warn'].map((mode) => [
    `pod-security.kubernetes.io/${mode}`,
    'privileged',
  ])
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: metallbNamespace,
      labels: { ...buildAppLabels('metallb'), ...Object.fromEntries(levels) },
    },
  }
}

/** Interfaces on which a speaker must not respond to ARP: those of pods, of containers, and loopback. */
const excludedInterfaces = [
  'lo$',
  'cni',
  'flannel',
  'veth',
  'docker',
  'br-[0-9a-f]{12}$',
  'virbr',
  'cali',
  'cilium',
]

function buildExcludedInterfaces(): Manifest {
  const list = excludedInterfaces.map((name) => `"^${name}"`).join(', ')
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: buildMetallbMetadata(excludedInterfacesConfig, speakerApp),
    data: { 'excludel2.yaml': `announcedInterfacesToExclude: [${list}]\n` },
  }
}

/** Builds the pool, and how it is announced: to BGP peers, or by ARP. */
function buildPool({ addresses, bgp }: LoadBalancerSettings): Manifest[] {
  const apiVersion = `${group}/v1beta1`
  const advertisement = {
    apiVersion,
    kind: bgp === undefined ? 'L2Advertisement' : 'BGPAdvertisement',
    metadata: buildMetallbMetadata(poolName, 'metallb'),
    spec: { ipAddressPools: [poolName] },
  }
  const peers = (bgp?.peers ?? []).map(({ address, asn }, index) => ({
    apiVersion: `${group}/v1beta2`,
    kind: 'BGPPeer',
    metadata: buildMetallbMetadata(`${poolName}-${index + 1}`, 'metallb'),
    spec: { myASN: bgp?.asn, peerASN: asn, peerAddress: address },
  }))
  return [
    {
      apiVersion,
      kind: 'IPAddressPool',
      metadata: buildMetallbMetadata(poolName, 'metallb'),
      spec: { addresses, avoidBuggyIPs: true },
    },
    ...peers,
    advertisement,
  ]
}
