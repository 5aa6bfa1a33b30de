import { formatHostPort } from '../../kit/host-port.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { type Args, toFlags } from '../../plan/args.ts'
import type { StaticPodComponent } from './layout.ts'
import type { PodVolume } from './volumes.ts'

export interface StaticPodInput {
  readonly component: StaticPodComponent
  readonly plan: NodePlan
  readonly args: Args
  readonly image: string
  readonly volumes: readonly PodVolume[]
}

interface ProbeEndpoints {
  readonly port: number
  readonly scheme: 'HTTP' | 'HTTPS'
  readonly host: string
  readonly live: string
  readonly ready?: string
  readonly start: string
}

/** Requests of a pod, as in kubeadm. */
const requests: Readonly<Record<StaticPodComponent, object>> = {
  etcd: { cpu: '100m', memory: '100Mi' },
  'kube-apiserver': { cpu: '250m' },
  'kube-controller-manager': { cpu: '200m' },
  'kube-scheduler': { cpu: '100m' },
}

/** Builds the manifest of a static pod in the form of kubeadm, which reads its labels and annotations. */
export function buildStaticPod({ component, plan, args, image, volumes }: StaticPodInput): object {
  const { port, ...probes } = describeProbes(component, plan, args)
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...buildAnnotations(component, plan, args),
      labels: { component, tier: 'control-plane' },
      name: component,
      namespace: 'kube-system',
    },
    spec: {
      containers: [
        {
          name: component,
          image,
          imagePullPolicy: 'IfNotPresent',
          command: [component, ...toFlags(args)],
          ports: [{ containerPort: port, name: 'probe-port', protocol: 'TCP' }],
          livenessProbe: {
            ...buildProbe(probes, probes.live, 8),
            initialDelaySeconds: 10,
            periodSeconds: 10,
          },
          ...(probes.ready === undefined
            ? {}
            : { readinessProbe: { ...buildProbe(probes, probes.ready, 3), periodSeconds: 1 } }),
          startupProbe: {
            ...buildProbe(probes, probes.start, 24),
            initialDelaySeconds: 10,
            periodSeconds: 10,
          },
          resources: { requests: requests[component] },
          volumeMounts: volumes.map(({ name, path, readOnly }) => ({
            name,
            mountPath: path,
            ...(readOnly ? { readOnly } : {}),
          })),
        },
      ],
      hostNetwork: true,
      priority: 2_000_001_000,
      priorityClassName: 'system-node-critical',
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
      volumes: volumes.map(({ name, path, type }) => ({ name, hostPath: { path, type } })),
    },
  }
}

function buildAnnotations(component: StaticPodComponent, { address }: NodePlan, args: Args): object {
  switch (component) {
    case 'etcd':
      return {
        annotations: { 'kubeadm.kubernetes.io/etcd.advertise-client-urls': args['advertise-client-urls'] },
      }
    case 'kube-apiserver': {
      const endpoint = formatHostPort(address, args['secure-port'] ?? '')
      return {
        annotations: { 'kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint': endpoint },
      }
    }
    default:
      return {}
  }
}

function describeProbes(component: StaticPodComponent, { address }: NodePlan, args: Args): ProbeEndpoints {
  const local = { host: '127.0.0.1', scheme: 'HTTPS' } as const
  switch (component) {
    case 'etcd':
      return { ...local, scheme: 'HTTP', port: 2381, live: '/livez', ready: '/readyz', start: '/readyz' }
    case 'kube-apiserver':
      return {
        ...{ host: address, scheme: 'HTTPS', port: Number(args['secure-port']) },
        ...{ live: '/livez', ready: '/readyz', start: '/livez' },
      }
    case 'kube-controller-manager':
      return { ...local, port: 10_257, live: '/healthz', start: '/healthz' }
    default:
      return { ...local, port: 10_259, live: '/livez', ready: '/readyz', start: '/livez' }
  }
}

function buildProbe(
  { host, scheme }: Pick<ProbeEndpoints, 'host' | 'scheme'>,
  path: string,
  failureThreshold: number,
): object {
  return { failureThreshold, httpGet: { host, path, port: 'probe-port', scheme }, timeoutSeconds: 15 }
}
