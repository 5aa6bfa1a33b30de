import type { Manifest } from '../../kube/object.ts'
import { type LoadBalancerSettings, speakerPorts } from '../../spec/load-balancer.ts'
import {
  buildAppLabels,
  buildContainerSecurity,
  buildPlacement,
  buildPodSecurity,
  buildResources,
  controlPlaneSelector,
  controlPlaneTolerations,
} from './manifest-helpers.ts'
import { buildMetallbMetadata, controllerApp, speakerApp } from './metallb-rbac.ts'

/** Secret with which speakers encrypt their messages. The controller creates it. */
const memberSecret = 'memberlist'
/** ConfigMap with the interfaces on which a speaker does not respond. */
export const excludedInterfacesConfig = 'metallb-excludel2'

/** Builds the Deployment that gives addresses to Services. */
export function buildController(settings: LoadBalancerSettings, image: string): Manifest {
  const selector = buildAppLabels(controllerApp)
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: buildMetallbMetadata(controllerApp, controllerApp),
    spec: {
      // The controller has no leader election: two replicas could give one address to two Services.
      replicas: 1,
      strategy: { type: 'Recreate' },
      selector: { matchLabels: selector },
      template: {
        metadata: { labels: selector },
        spec: {
          serviceAccountName: controllerApp,
          // The controller may change the status of all Services, so it runs on control planes.
          ...buildPlacement(
            { ...settings, tolerations: undefined, nodeSelector: {} },
            { tolerations: controlPlaneTolerations, nodeSelector: controlPlaneSelector },
          ),
          securityContext: buildPodSecurity(65_534),
          containers: [
            {
              name: 'controller',
              image,
              imagePullPolicy: 'IfNotPresent',
              args: ['--log-level=info', '--webhook-mode=disabled'],
              env: [
                buildFieldVariable('METALLB_POD_NAME', 'metadata.name'),
                { name: 'METALLB_ML_SECRET_NAME', value: memberSecret },
                { name: 'METALLB_DEPLOYMENT', value: controllerApp },
                nativeBgp,
              ],
              resources: buildResources(settings, { requests: { cpu: '10m', memory: '64Mi' } }),
              securityContext: buildContainerSecurity(),
              ...buildProbes({}),
            },
          ],
        },
      },
    },
  }
}

/** Builds the DaemonSet that announces addresses from the nodes. */
export function buildSpeaker(settings: LoadBalancerSettings, image: string): Manifest {
  const selector = buildAppLabels(speakerApp)
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: buildMetallbMetadata(speakerApp, speakerApp),
    spec: {
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
      selector: { matchLabels: selector },
      template: {
        metadata: { labels: selector },
        spec: {
          serviceAccountName: speakerApp,
          hostNetwork: true,
          dnsPolicy: 'ClusterFirstWithHostNet',
          terminationGracePeriodSeconds: 2,
          ...buildPlacement(settings, { tolerations: [{ operator: 'Exists' }] }),
          securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
          containers: [buildSpeakerContainer(settings, image)],
          volumes: [
            { name: 'members', secret: { secretName: memberSecret, defaultMode: 0o400 } },
            { name: 'interfaces', configMap: { name: excludedInterfacesConfig } },
          ],
        },
      },
    },
  }
}

function buildSpeakerContainer(settings: LoadBalancerSettings, image: string): Record<string, unknown> {
  const { members, metrics, health } = speakerPorts
  const port = (name: string, containerPort: number, protocol: string) => {
    return { name, containerPort, hostPort: containerPort, protocol }
  }
  return {
    name: 'speaker',
    image,
    imagePullPolicy: 'IfNotPresent',
    args: ['--log-level=info', `--port=${metrics}`, `--health-probe-port=${health}`],
    env: [
      buildFieldVariable('METALLB_NODE_NAME', 'spec.nodeName'),
      buildFieldVariable('METALLB_POD_NAME', 'metadata.name'),
      buildFieldVariable('METALLB_ML_BIND_ADDR', 'status.podIP'),
      { name: 'METALLB_ML_BIND_PORT', value: String(members) },
      { name: 'METALLB_ML_LABELS', value: `app.kubernetes.io/name=${speakerApp}` },
      { name: 'METALLB_ML_SECRET_KEY_PATH', value: '/etc/ml_secret_key' },
      nativeBgp,
    ],
    resources: buildResources(settings, { requests: { cpu: '10m', memory: '64Mi' } }),
    // ARP needs raw packets. A process that is not root would not get the capability.
    securityContext: { ...buildContainerSecurity('NET_RAW'), runAsUser: 0, runAsGroup: 0 },
    ports: [
      port('members-tcp', members, 'TCP'),
      port('members-udp', members, 'UDP'),
      port('metrics', metrics, 'TCP'),
    ],
    ...buildProbes({ host: '127.0.0.1' }),
    volumeMounts: [
      { name: 'members', mountPath: '/etc/ml_secret_key', readOnly: true },
      { name: 'interfaces', mountPath: '/etc/metallb', readOnly: true },
    ],
  }
}

/** MetalLB's own BGP program. The others need more containers. */
const nativeBgp = { name: 'METALLB_BGP_TYPE', value: 'native' }

function buildFieldVariable(name: string, fieldPath: string): Record<string, unknown> {
  return { name, valueFrom: { fieldRef: { fieldPath } } }
}

function buildProbes(target: { readonly host?: string }): Record<string, unknown> {
  const request = (path: string) => ({ httpGet: { ...target, path, port: speakerPorts.health } })
  return {
    readinessProbe: { ...request('/readyz'), periodSeconds: 2, timeoutSeconds: 2 },
    livenessProbe: { ...request('/healthz'), periodSeconds: 10, timeoutSeconds: 2, failureThreshold: 3 },
  }
}
