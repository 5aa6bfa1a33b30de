import { joinNames } from '../../kit/text.ts'
import { type AdoptedProgram, adoptedPrograms, sortFlags } from './adopted-flags.ts'
import { type AdoptionItem, lost } from './adoption-report.ts'
import { listDefaultFlags } from './cluster-settings.ts'
import { listRoles, nameHosts } from './host-settings.ts'
import { findReadOnlyPort, listLostKubeletFields, listLostKubeletFlags } from './kubelet-settings.ts'
import { listLostRke1Parts } from './lost-rke1-parts.ts'
import { type AdoptionObservation, findComponent, findNode } from './observation.ts'
import { describePodNetwork } from './pod-network.ts'
import { listLostAdmission } from './pod-security.ts'

/** Lists flags of a component that cluster.yml does not keep. It has one value for all hosts. */
function listLostFlags(observation: AdoptionObservation, program: AdoptedProgram): AdoptionItem[] {
  const defaults = listDefaultFlags(observation)
  const sorted = observation.hosts.flatMap((host) => {
    const component = findComponent(host, program)
    if (component === undefined) return []
    // What the file configures is listed by itself.
    const { 'admission-control-config-file': file, ...others } = component.args
    const args = file === undefined || host.admission === undefined ? component.args : others
    return [{ address: host.address, ...sortFlags(observation.from, program, args, defaults) }]
  })
  const lostNames = new Set(sorted.flatMap((one) => one.lost))
  const [first] = sorted
  const different = new Set(
    sorted
      .flatMap(({ kept: flags }) => Object.keys(flags))
      .filter((name) => sorted.some((one) => one.kept[name] !== first?.kept[name])),
  )
  const hosts = program === 'etcd' ? 'members' : 'control planes'
  const format = (names: ReadonlySet<string>): string => [...names].map((name) => `--${name}`).join(', ')
  return [
    ...(lostNames.size === 0
      ? []
      : [
          lost(
            'ADOPT_LOSES_FLAGS',
            `flags of ${program}: ${format(lostNames)}`,
            'if the cluster needs them, set spec.components in cluster.yml',
          ),
        ]),
    ...(different.size === 0
      ? []
      : [
          lost(
            'ADOPT_LOSES_FLAGS',
            `flags of ${program} that differ between ${hosts}: ${format(different)}; those of ${first?.address} are kept`,
            'compare the flags of all of them, and check spec.components in cluster.yml',
          ),
        ]),
  ]
}

/** Lists environment variables of static pods. kubeadm copies those of a proxy from the shell of its operator. */
function listLostEnvironment({ hosts }: AdoptionObservation): AdoptionItem[] {
  return adoptedPrograms.flatMap((program) => {
    const names = new Set(hosts.flatMap((host) => findComponent(host, program)?.environment ?? []))
    if (names.size === 0) return []
    return [
      lost(
        'ADOPT_LOSES_ENVIRONMENT',
        `environment variables of ${program}: ${joinNames([...names])}`,
        'check that the component works without them: webhooks and OIDC are then reached without a proxy',
      ),
    ]
  })
}

/** Lists settings in files of the hosts that the units and configurations of hyperkube replace. */
function listLostHostSettings({ from, hosts }: AdoptionObservation): AdoptionItem[] {
  // With RKE1, containerd is a part of Docker, and pods do not use its configuration.
  const settings = new Set(from === 'rke1' ? [] : hosts.flatMap(({ runtime }) => runtime.settings ?? []))
  const dropIns = new Set(hosts.flatMap((host) => host.dropIns ?? []))
  return [
    ...(settings.size === 0
      ? []
      : [
          lost(
            'ADOPT_LOSES_RUNTIME_SETTINGS',
            `settings of containerd: ${joinNames([...settings])}`,
            'before hyperkube up, set spec.registries and spec.components.containerd.config in cluster.yml',
          ),
        ]),
    ...(dropIns.size === 0
      ? []
      : [
          lost(
            'ADOPT_LOSES_DROP_INS',
            `drop-ins of units: ${joinNames([...dropIns])}`,
            'if they set a proxy, set spec.proxy in cluster.yml before hyperkube up',
          ),
        ]),
  ]
}

/** Lists what an adoption loses. */
export function listLost(observation: AdoptionObservation): AdoptionItem[] {
  const { from, hosts, api } = observation
  const kubeletSettings = [
    { what: 'flags', names: hosts.flatMap(listLostKubeletFlags).map((flag) => `--${flag}`) },
    { what: 'configuration fields', names: hosts.flatMap(listLostKubeletFields) },
  ]
  const ports = hosts.flatMap((host) => findReadOnlyPort(host) ?? [])
  const pods = [...new Set(hosts.flatMap(({ otherStaticPods }) => otherStaticPods))]
  const containers = hosts.flatMap(({ components }) =>
    components.flatMap(({ name, otherContainers = [] }) => otherContainers.map((one) => `${one} of ${name}`)),
  )
  // canal stays, and goes on to enforce policies of Calico.
  const isCanal = describePodNetwork(observation).kind === 'canal'
  const policies = (api?.foreignPolicies ?? []).filter(
    ({ resource, count }) => count > 0 && !(isCanal && resource.endsWith('projectcalico.org')),
  )
  const hostNames = nameHosts(observation)
  const etcdNodes = hosts.flatMap((host, index) =>
    listRoles(observation, host).join() === 'etcd' && findNode(observation, host) !== undefined
      ? [hostNames[index] ?? host.hostname]
      : [],
  )
  return [
    ...adoptedPrograms.flatMap((program) => listLostFlags(observation, program)),
    ...kubeletSettings.flatMap(({ what, names }) =>
      names.length === 0
        ? []
        : [
            lost(
              'ADOPT_LOSES_FLAGS',
              `${what} of kubelets: ${[...new Set(names)].join(', ')}`,
              'if nodes need them, set spec.components.kubelet in cluster.yml',
            ),
          ],
    ),
    ...(ports.length === 0
      ? []
      : [
          lost(
            'ADOPT_LOSES_FLAGS',
            `the read-only port of kubelets: ${[...new Set(ports)].join(', ')}`,
            'clients must use port 10250 and authenticate; hyperkube refuses a port without authentication',
          ),
        ]),
    ...listLostAdmission(observation),
    ...listLostEnvironment(observation),
    ...listLostHostSettings(observation),
    ...listLostRke1Parts(observation),
    ...(pods.length === 0
      ? []
      : [
          lost(
            'ADOPT_LOSES_STATIC_PODS',
            `static pods: ${joinNames(pods)}`,
            'run them as DaemonSets; for an address of the API use spec.api.virtualIP',
          ),
        ]),
    ...(containers.length === 0
      ? []
      : [
          lost(
            'ADOPT_LOSES_STATIC_PODS',
            `containers of static pods: ${joinNames([...new Set(containers)])}`,
            'only the component itself becomes a service; run the others as DaemonSets',
          ),
        ]),
    ...(policies.length === 0
      ? []
      : [
          lost(
            'ADOPT_LOSES_POLICIES',
            `policies that only their own plugin enforces: ${policies.map(({ resource, count }) => `${count} ${resource}`).join(', ')}`,
            'write them as NetworkPolicy objects first',
          ),
        ]),
    ...(etcdNodes.length === 0
      ? []
      : [
          lost(
            'ADOPT_LOSES_ETCD_NODES',
            `nodes of dedicated etcd hosts: ${joinNames(etcdNodes)}`,
            'hosts that run only etcd are no nodes; pods there must be able to run elsewhere',
          ),
        ]),
    lost(
      'ADOPT_LOSES_TOOL',
      from === 'kubeadm'
        ? 'kubeadm join, kubeadm upgrade, and anonymous requests other than /livez, /readyz and /healthz, until adopt rollback'
        : 'rke up, rke etcd and rke cert, until adopt rollback',
      'use node add, upgrade, etcd and certs of hyperkube instead',
    ),
  ]
}
