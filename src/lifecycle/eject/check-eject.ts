import type { Finding } from '../../contract/finding.ts'
import type { Identity } from '../../identity/identity.ts'
import { joinNames } from '../../kit/text.ts'
import { isIpv6First } from '../../spec/network.ts'
import { type EjectInput, isControlPlanePlan, selectControlPlaneEndpoint } from './eject-context.ts'
import { buildKubeProxyConfig } from './kube-proxy.ts'
import { findPlannedComponent, readServiceArgs } from './service-args.ts'

/** Reports what kubeadm cannot express. Nothing is written if a finding is an error. */
export function checkEject(input: EjectInput, identity: Identity): readonly Finding[] {
  return [
    ...checkHosts(input),
    ...checkEndpoint(input),
    ...checkAddressFamily(input),
    ...checkVersions(input),
    ...checkRotation(identity),
    ...checkKubeProxy(input),
  ]
}

function checkHosts({ plans }: EjectInput): Finding[] {
  return plans.flatMap((plan): Finding[] => {
    const { host, os } = plan
    if (os === 'windows')
      return [
        {
          code: 'EJECT_WINDOWS',
          severity: 'error',
          host,
          message: 'the host runs Windows; kubeadm manages no Windows workers of hyperkube',
          hint: `remove the host first: hyperkube node remove ${host}`,
        },
      ]
    const hasEtcd = findPlannedComponent(plan, 'etcd') !== undefined
    if (hasEtcd === isControlPlanePlan(plan)) return []
    return [
      {
        code: 'EJECT_DEDICATED_ETCD',
        severity: 'error',
        host,
        message: 'etcd does not run on the control planes; a static pod of etcd needs a kubelet on its host',
        hint: 'give the control planes the role etcd and remove the other members: hyperkube node replace --help',
      },
    ]
  })
}

function checkEndpoint(input: EjectInput): Finding[] {
  const controlPlanes = input.plans.filter(isControlPlanePlan)
  if (selectControlPlaneEndpoint(input) !== undefined) return []
  return [
    {
      code: 'EJECT_NO_ENDPOINT',
      severity: 'error',
      message: `no address reaches all of ${joinNames(controlPlanes.map(({ host }) => host))}; nodes use hyperkube's proxy, which ends`,
      hint: 'set spec.api.endpoint or spec.api.virtualIP in cluster.yml, then run: hyperkube up',
    },
  ]
}

/** Static pods of API servers would advertise an IPv6 address, but etcd and kubeconfigs use the IPv4 address. */
function checkAddressFamily({ cluster }: EjectInput): Finding[] {
  if (!isIpv6First(cluster.spec.network)) return []
  return [
    {
      code: 'EJECT_IPV6_FIRST',
      severity: 'error',
      message:
        'IPv6 is first in spec.network.services; kubeadm has one address of a host for etcd and the API',
      hint: 'keep this cluster with hyperkube; move workloads to a new cluster of kubeadm instead',
    },
  ]
}

function checkVersions({ cluster }: EjectInput): Finding[] {
  if (cluster.spec.heldUpgrade === undefined) return []
  return [
    {
      code: 'EJECT_HELD_UPGRADE',
      severity: 'error',
      message: `the upgrade to ${cluster.spec.heldUpgrade.to} is held; kubeadm cannot emulate a version`,
      hint: 'finish it: hyperkube upgrade confirm; or return: hyperkube upgrade rollback',
    },
  ]
}

/** kubeadm has one certificate and one key in each file. */
function checkRotation({ cas, serviceAccount }: Identity): Finding[] {
  const rotating = [
    ...Object.values(cas).flatMap(({ name, replacement }) =>
      replacement === undefined ? [] : [`CA ${name}`],
    ),
    ...(serviceAccount.replacement === undefined ? [] : ['service account key']),
  ]
  if (rotating.length === 0) return []
  return [
    {
      code: 'EJECT_ROTATION',
      severity: 'error',
      message: `a key is being replaced: ${joinNames(rotating)}; files of kubeadm have one key each`,
      hint: 'continue the rotation to its end first: hyperkube certs --help',
    },
  ]
}

/** kubeadm has one configuration of kube-proxy for all nodes. */
function checkKubeProxy({ plans }: EjectInput): Finding[] {
  const linux = plans.filter((plan) => findPlannedComponent(plan, 'kube-proxy') !== undefined)
  const configs = new Set(linux.map((plan) => JSON.stringify(buildKubeProxyConfig(plan))))
  const flags = new Set(
    linux
      .flatMap((plan) => Object.keys(readServiceArgs(plan, 'kube-proxy')))
      .filter((name) => !knownFlags.has(name)),
  )
  const build = (message: string): Finding => ({
    code: 'EJECT_KUBE_PROXY',
    severity: 'error',
    component: 'kube-proxy',
    message,
    hint: 'move flags to spec.components.kubeProxy.config, set one mode for all hosts there, and run hyperkube up; or accept the configuration of the first control plane: --ignore EJECT_KUBE_PROXY',
  })
  return [
    ...(configs.size > 1 ? [build('hosts have different configurations; the DaemonSet has one')] : []),
    ...(flags.size > 0 ? [build(`the DaemonSet of kubeadm has no flags ${joinNames([...flags])}`)] : []),
  ]
}

const knownFlags = new Set(['config', 'hostname-override'])
