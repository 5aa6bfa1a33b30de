import { etcdDataDirectory, etcdUser } from '../../contract/etcd-restore.ts'
import type { Predecessor } from '../../contract/predecessor.ts'
import type { PublicIdentity } from '../../identity/public-identity.ts'
import type { ComponentPlanner, LinuxPlanContext } from '../context.ts'

const manifests = '/etc/kubernetes/manifests'

/** What kubeadm runs instead of a component, by the name of the component. */
const kubeadmPredecessors: Readonly<Record<string, WithoutKept>> = {
  etcd: {
    ...buildStaticPod('etcd'),
    // kubeadm's etcd has its data directly in the directory that hyperkube's etcd has for itself.
    data: { from: '/var/lib/etcd/member', to: `${etcdDataDirectory}/member`, owner: etcdUser },
  },
  'kube-apiserver': buildStaticPod('kube-apiserver'),
  'kube-controller-manager': buildStaticPod('kube-controller-manager'),
  'kube-scheduler': buildStaticPod('kube-scheduler'),
  containerd: { kind: 'unit', unit: 'containerd.service' },
  kubelet: { kind: 'unit', unit: 'kubelet.service' },
}

type StaticPod = Omit<Extract<Predecessor, { kind: 'static-pod' }>, 'kept'>
type WithoutKept = StaticPod | Omit<Extract<Predecessor, { kind: 'unit' }>, 'kept'>

function buildStaticPod(program: string): StaticPod {
  return { kind: 'static-pod', manifest: `${manifests}/${program}.yaml`, program }
}

/** True if another tool installed this host. */
export function isAdoptedHost({
  identity: { adoption },
  host,
}: {
  readonly identity: Pick<PublicIdentity, 'adoption'>
  readonly host: { readonly name: string }
}): boolean {
  return adoption !== undefined && (adoption.hosts?.includes(host.name) ?? true)
}

/** True if the component replaces a unit of the other tool that has the same name. */
export function replacesUnit(subject: Parameters<typeof isAdoptedHost>[0], component: string): boolean {
  return isAdoptedHost(subject) && kubeadmPredecessors[component]?.kind === 'unit'
}

/** Adds what the component replaces on an adopted host to its plan. */
export function withPredecessor(
  planner: ComponentPlanner<LinuxPlanContext>,
): ComponentPlanner<LinuxPlanContext> {
  return (context) => {
    const planned = planner(context)
    if (planned === undefined || !isAdoptedHost(context)) return planned
    const predecessor = kubeadmPredecessors[planned.name]
    if (predecessor === undefined) return planned
    return { ...planned, replaces: { ...predecessor, kept: context.identity.adoption?.committed !== true } }
  }
}
