import { etcdDataDirectory, etcdUser } from '../../contract/etcd-restore.ts'
import type { Predecessor } from '../../contract/predecessor.ts'
import type { PublicIdentity } from '../../identity/public-identity.ts'
import { type ComponentPlanner, isControlPlane, type LinuxPlanContext, type PlanContext } from '../context.ts'

const manifests = '/etc/kubernetes/manifests'

/**
 * Data of etcd. Both tools have it directly in the directory that hyperkube's etcd has for itself. RKE1 mounts
 * this directory into its container as /var/lib/rancher/etcd.
 */
const etcdData = { from: '/var/lib/etcd/member', to: `${etcdDataDirectory}/member`, owner: etcdUser }

/** What kubeadm runs instead of a component, by the name of the component. */
const kubeadmPredecessors: Readonly<Record<string, WithoutKept>> = {
  etcd: { ...buildStaticPod('etcd'), data: etcdData },
  'kube-apiserver': buildStaticPod('kube-apiserver'),
  'kube-controller-manager': buildStaticPod('kube-controller-manager'),
  'kube-scheduler': buildStaticPod('kube-scheduler'),
  containerd: { kind: 'unit', unit: 'containerd.service' },
  kubelet: { kind: 'unit', unit: 'kubelet.service' },
}

/** What RKE1 runs instead of a component of a control plane, by the name of the component. */
const rke1Predecessors: Readonly<Record<string, WithoutKept>> = {
  etcd: { ...buildContainer('etcd'), data: etcdData },
  'kube-apiserver': buildContainer('kube-apiserver'),
  'kube-controller-manager': buildContainer('kube-controller-manager'),
  'kube-scheduler': buildContainer('kube-scheduler'),
}

/** Containers of RKE1 on every node. Docker runs them and the pods, so they end together with it. */
const nodeContainers = ['kubelet', 'kube-proxy']

/** Container through which workers of RKE1 reach the API. Control planes use their own API server. */
const workerProxy = 'nginx-proxy'

type Kind<K extends Predecessor['kind']> = Omit<Extract<Predecessor, { kind: K }>, 'kept'>
type WithoutKept = Kind<'static-pod'> | Kind<'unit'> | Kind<'container'> | Kind<'docker'>

function buildStaticPod(program: string): Kind<'static-pod'> {
  return { kind: 'static-pod', manifest: `${manifests}/${program}.yaml`, program }
}

function buildContainer(container: string): Kind<'container'> {
  return { kind: 'container', container }
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

/** True if RKE1 installed this host, and the host can still return to it. */
export function canReturnToRke1(subject: Parameters<typeof isAdoptedHost>[0]): boolean {
  const { adoption } = subject.identity
  return adoption?.from === 'rke1' && !adoption.committed && isAdoptedHost(subject)
}

type Subject = Pick<PlanContext, 'identity' | 'host'>

/** Finds what the component replaces on this host. */
function findPredecessor(subject: Subject, component: string): WithoutKept | undefined {
  const { adoption } = subject.identity
  if (adoption === undefined || !isAdoptedHost(subject)) return undefined
  if (adoption.from === 'kubeadm') return kubeadmPredecessors[component]
  if (component !== 'containerd') return rke1Predecessors[component]
  return {
    kind: 'docker',
    containers: isControlPlane(subject) ? nodeContainers : [...nodeContainers, workerProxy],
  }
}

/** True if the component replaces a unit of the other tool that has the same name. */
export function replacesUnit(subject: Subject, component: string): boolean {
  const kind = findPredecessor(subject, component)?.kind
  return kind === 'unit' || kind === 'docker'
}

/** Adds what the component replaces on an adopted host to its plan. */
export function withPredecessor(
  planner: ComponentPlanner<LinuxPlanContext>,
): ComponentPlanner<LinuxPlanContext> {
  return (context) => {
    const planned = planner(context)
    if (planned === undefined) return undefined
    const predecessor = findPredecessor(context, planned.name)
    if (predecessor === undefined) return planned
    return { ...planned, replaces: { ...predecessor, kept: context.identity.adoption?.committed !== true } }
  }
}
