import { testImage } from '../../../lab/cluster/artifacts.ts'
import { selectParts } from '../../../lab/components/parts.ts'
import { createCa } from '../../../src/pki/ca.ts'
import { makeRequest } from '../../../src/pki/request.ts'
import { signRequest } from '../../../src/pki/sign.ts'

export const namespace = 'workload'
export const podPort = 8080
export const [webNodePort, ingressNodePort] = [30_090, 30_091]
export const ingressName = 'shop.example'
/** Directory of the StatefulSet's volumes on hosts. */
export const volumeDirectory = '/var/lib/workload'
/** Number of Secrets, and of custom resources. */
export const objectCount = 20
export const widgetGroup = 'workload.example'

/** An object, and the path of its collection. */
export interface WorkloadObject {
  readonly collection: string
  readonly body: object
}

export function listWorkloadImages(): readonly string[] {
  return [testImage, ingressImage()]
}

function ingressImage(): string {
  const [traefik] = selectParts(['traefik'])
  return `docker.io/library/traefik:${traefik?.version}`
}

function namespaced(
  group: string,
  resource: string,
  body: { readonly [field: string]: unknown },
): WorkloadObject {
  const root = group === 'v1' ? '/api/v1' : `/apis/${group}`
  return { collection: `${root}/namespaces/${namespace}/${resource}`, body: { apiVersion: group, ...body } }
}

function clusterWide(
  group: string,
  resource: string,
  body: { readonly [field: string]: unknown },
): WorkloadObject {
  const root = group === 'v1' ? '/api/v1' : `/apis/${group}`
  return { collection: `${root}/${resource}`, body: { apiVersion: group, ...body } }
}

const rbac = 'rbac.authorization.k8s.io/v1'
const labelsOf = (app: string): { readonly app: string } => ({ app })

const netexec = {
  name: 'main',
  image: testImage,
  imagePullPolicy: 'IfNotPresent',
  // The server keeps serving for five seconds after SIGTERM, so that kube-proxy can remove its endpoint first.
  args: ['netexec', `--http-port=${podPort}`, '--delay-shutdown=5'],
  readinessProbe: { httpGet: { path: '/healthz', port: podPort }, periodSeconds: 1 },
}

interface Deployment {
  readonly name: string
  readonly replicas: number
  readonly spec: object
}

function buildDeployment({ name, replicas, spec }: Deployment): WorkloadObject {
  const labels = labelsOf(name)
  return namespaced('apps/v1', 'deployments', {
    kind: 'Deployment',
    metadata: { name },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: 30,
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'kubernetes.io/hostname',
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: { matchLabels: labels },
            },
          ],
          ...spec,
        },
      },
    },
  })
}

function buildBudget(name: string, minAvailable: number): WorkloadObject {
  return namespaced('policy/v1', 'poddisruptionbudgets', {
    kind: 'PodDisruptionBudget',
    metadata: { name },
    spec: { minAvailable, selector: { matchLabels: labelsOf(name) } },
  })
}

function buildService(name: string, spec: object): WorkloadObject {
  return namespaced('v1', 'services', {
    kind: 'Service',
    metadata: { name },
    spec: { selector: labelsOf(name), ...spec },
  })
}

/** Deployment with a budget behind a NodePort and an Ingress. */
const web: readonly WorkloadObject[] = [
  buildDeployment({ name: 'web', replicas: 3, spec: { containers: [netexec] } }),
  buildService('web', {
    type: 'NodePort',
    ports: [{ port: 80, targetPort: podPort, nodePort: webNodePort }],
  }),
  namespaced('networking.k8s.io/v1', 'ingresses', {
    kind: 'Ingress',
    metadata: { name: 'web' },
    spec: {
      ingressClassName: 'workload',
      rules: [
        {
          host: ingressName,
          http: {
            paths: [
              { path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } },
            ],
          },
        },
      ],
    },
  }),
]

/** Ingress controller of the user: Traefik, behind a NodePort. */
const ingressController: readonly WorkloadObject[] = [
  clusterWide('networking.k8s.io/v1', 'ingressclasses', {
    kind: 'IngressClass',
    metadata: { name: 'workload' },
    spec: { controller: 'traefik.io/ingress-controller' },
  }),
  namespaced('v1', 'serviceaccounts', { kind: 'ServiceAccount', metadata: { name: 'ingress' } }),
  clusterWide(rbac, 'clusterroles', {
    kind: 'ClusterRole',
    metadata: { name: 'workload-ingress' },
    rules: [
      { apiGroups: [''], resources: ['services', 'secrets', 'nodes'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
      {
        apiGroups: ['networking.k8s.io'],
        resources: ['ingresses', 'ingressclasses'],
        verbs: ['get', 'list', 'watch'],
      },
      { apiGroups: ['networking.k8s.io'], resources: ['ingresses/status'], verbs: ['update'] },
    ],
  }),
  clusterWide(rbac, 'clusterrolebindings', {
    kind: 'ClusterRoleBinding',
    metadata: { name: 'workload-ingress' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'workload-ingress' },
    subjects: [{ kind: 'ServiceAccount', name: 'ingress', namespace }],
  }),
  buildDeployment({
    name: 'ingress',
    replicas: 2,
    spec: {
      serviceAccountName: 'ingress',
      containers: [
        {
          name: 'main',
          image: ingressImage(),
          imagePullPolicy: 'IfNotPresent',
          args: [
            '--global.checknewversion=false',
            '--global.sendanonymoususage=false',
            '--entrypoints.web.address=:8000',
            '--entrypoints.web.transport.lifecycle.requestacceptgracetimeout=5s',
            '--entrypoints.ping.address=:8081',
            '--ping=true',
            '--ping.entrypoint=ping',
            '--providers.kubernetesingress=true',
            '--providers.kubernetesingress.ingressclass=workload',
          ],
          readinessProbe: { httpGet: { path: '/ping', port: 8081 }, periodSeconds: 1 },
        },
      ],
    },
  }),
  buildService('ingress', {
    type: 'NodePort',
    ports: [{ port: 80, targetPort: 8000, nodePort: ingressNodePort }],
  }),
]

/** DaemonSet on every node, whose pods may reach what the NetworkPolicy protects. */
const agent = namespaced('apps/v1', 'daemonsets', {
  kind: 'DaemonSet',
  metadata: { name: 'agent' },
  spec: {
    selector: { matchLabels: labelsOf('agent') },
    template: {
      metadata: { labels: { ...labelsOf('agent'), role: 'friend' } },
      spec: {
        terminationGracePeriodSeconds: 5,
        tolerations: [{ operator: 'Exists' }],
        containers: [netexec],
      },
    },
  },
})

const vault: readonly WorkloadObject[] = [
  namespaced('networking.k8s.io/v1', 'networkpolicies', {
    kind: 'NetworkPolicy',
    metadata: { name: 'vault' },
    spec: {
      podSelector: { matchLabels: labelsOf('vault') },
      policyTypes: ['Ingress'],
      ingress: [{ from: [{ podSelector: { matchLabels: { role: 'friend' } } }] }],
    },
  }),
  buildDeployment({
    name: 'vault',
    replicas: 2,
    // The policy also refuses probes of the kubelet with some pod networks.
    spec: { containers: [{ ...netexec, readinessProbe: undefined }] },
  }),
]

/**
 * Program of the StatefulSet: appends a number and the time to a file every second, writes them to the disk, and
 * continues with the last number of the file. A power cut may leave a line without its end, or zero bytes.
 */
const counter = `if [ -s /data/log ]; then
  tr -d '\\000' < /data/log > /data/kept
  if [ "$(tail -c 1 /data/kept | wc -l)" -eq 0 ]; then sed -i '$d' /data/kept; fi
  sync /data/kept && mv /data/kept /data/log && sync /data
fi
number=$(tail -n 1 /data/log 2>/dev/null | cut -d ' ' -f 1)
number=\${number:-0}
trap 'exit 0' TERM
while true; do
  number=$((number + 1))
  echo "$number $(date +%s)" >> /data/log && sync /data/log
  sleep 1 & wait $!
done`

/** StatefulSet with one volume per pod. Each volume is a directory of one of the given nodes. */
function buildStore(nodes: readonly string[]): readonly WorkloadObject[] {
  const labels = labelsOf('store')
  const storage = { accessModes: ['ReadWriteOnce'], storageClassName: 'workload-static' }
  return [
    ...nodes.map((node, index) =>
      clusterWide('v1', 'persistentvolumes', {
        kind: 'PersistentVolume',
        metadata: { name: `workload-store-${index}` },
        spec: {
          ...storage,
          capacity: { storage: '1Gi' },
          persistentVolumeReclaimPolicy: 'Retain',
          hostPath: { path: `${volumeDirectory}/store-${index}` },
          claimRef: { namespace, name: `data-store-${index}` },
          nodeAffinity: {
            required: {
              nodeSelectorTerms: [
                { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] },
              ],
            },
          },
        },
      }),
    ),
    buildService('store', { clusterIP: 'None', ports: [{ port: 80, targetPort: podPort }] }),
    namespaced('apps/v1', 'statefulsets', {
      kind: 'StatefulSet',
      metadata: { name: 'store' },
      spec: {
        replicas: nodes.length,
        serviceName: 'store',
        podManagementPolicy: 'Parallel',
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            terminationGracePeriodSeconds: 5,
            tolerations: [
              { operator: 'Exists', key: 'node-role.kubernetes.io/control-plane' },
              { operator: 'Exists', key: 'node-role.kubernetes.io/controlplane' },
              { operator: 'Exists', key: 'node-role.kubernetes.io/etcd' },
            ],
            containers: [
              {
                name: 'main',
                image: testImage,
                imagePullPolicy: 'IfNotPresent',
                command: ['sh', '-c', counter],
                volumeMounts: [{ name: 'data', mountPath: '/data' }],
              },
            ],
          },
        },
        volumeClaimTemplates: [
          { metadata: { name: 'data' }, spec: { ...storage, resources: { requests: { storage: '1Gi' } } } },
        ],
      },
    }),
  ]
}

/** Webhook that every new ConfigMap of the namespace needs. It is created after its pods are ready. */
export interface Guard {
  readonly server: readonly WorkloadObject[]
  readonly webhook: WorkloadObject
}

export async function buildGuard(now: Date): Promise<Guard> {
  const ca = await createCa('kubernetes', 10 * 365 * 86_400_000, now)
  const subject = { commonName: 'guard', organizations: [] }
  const names = { dns: [`guard.${namespace}.svc`], ip: [] }
  const { request, privateKey } = await makeRequest('guard', subject, names)
  const lifetime = 365 * 86_400_000
  const certificate = await signRequest(ca, request, { subject, names, usages: ['server'], lifetime }, now)
  return {
    server: [
      namespaced('v1', 'secrets', {
        kind: 'Secret',
        metadata: { name: 'guard' },
        stringData: { 'tls.crt': certificate, 'tls.key': privateKey.revealText() },
      }),
      buildDeployment({
        name: 'guard',
        replicas: 2,
        spec: {
          containers: [
            {
              name: 'main',
              image: testImage,
              imagePullPolicy: 'IfNotPresent',
              args: [
                'webhook',
                '--tls-cert-file=/certs/tls.crt',
                '--tls-private-key-file=/certs/tls.key',
                '--port=8443',
              ],
              // The server ends at once with SIGTERM, so kube-proxy needs time to remove its endpoint first.
              lifecycle: { preStop: { exec: { command: ['sleep', '5'] } } },
              readinessProbe: { httpGet: { path: '/readyz', port: 8443, scheme: 'HTTPS' }, periodSeconds: 1 },
              volumeMounts: [{ name: 'certs', mountPath: '/certs' }],
            },
          ],
          volumes: [{ name: 'certs', secret: { secretName: 'guard' } }],
        },
      }),
      buildService('guard', { ports: [{ port: 443, targetPort: 8443 }] }),
    ],
    webhook: clusterWide('admissionregistration.k8s.io/v1', 'validatingwebhookconfigurations', {
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'workload-guard' },
      webhooks: [
        {
          name: 'guard.workload.example',
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          failurePolicy: 'Fail',
          timeoutSeconds: 5,
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
          rules: [
            { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
          ],
          clientConfig: {
            service: { namespace, name: 'guard', path: '/configmaps' },
            caBundle: Buffer.from(ca.certificate).toString('base64'),
          },
        },
      ],
    }),
  }
}

export const widgetDefinition: WorkloadObject = clusterWide(
  'apiextensions.k8s.io/v1',
  'customresourcedefinitions',
  {
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${widgetGroup}` },
    spec: {
      group: widgetGroup,
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
            },
          },
        },
      ],
    },
  },
)

const numbers = Array.from({ length: objectCount }, (_, index) => index)

export function readExpectedWord(index: number): string {
  return `kept well, number ${index}`
}

const secrets = numbers.map((index) =>
  namespaced('v1', 'secrets', {
    kind: 'Secret',
    metadata: { name: `word-${index}` },
    stringData: { word: readExpectedWord(index) },
  }),
)

export const widgets: readonly WorkloadObject[] = numbers.map((index) =>
  namespaced(`${widgetGroup}/v1`, 'widgets', {
    kind: 'Widget',
    metadata: { name: `widget-${index}` },
    spec: { size: index },
  }),
)

/**
 * Lists the objects of the workload without the webhook and the custom resources. With budgets, a drain waits for
 * pods that start elsewhere, so the cluster must have several workers.
 */
export function listWorkloadObjects(
  storeNodes: readonly string[],
  withBudgets: boolean,
): readonly WorkloadObject[] {
  const budgets = [
    buildBudget('web', 2),
    buildBudget('ingress', 1),
    buildBudget('guard', 1),
    buildBudget('store', 1),
  ]
  return [
    clusterWide('v1', 'namespaces', { kind: 'Namespace', metadata: { name: namespace } }),
    ...secrets,
    ...web,
    ...ingressController,
    agent,
    ...vault,
    ...buildStore(storeNodes),
    ...(withBudgets ? budgets : []),
    widgetDefinition,
  ]
}
