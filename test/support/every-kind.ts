/** An object of a kind, and where it is created. */
export interface KindObject {
  /** Path of the collection. The object is below it, by its name. */
  readonly collection: string
  readonly body: Readonly<Record<string, unknown>> & {
    readonly metadata: Readonly<Record<string, unknown>> & { readonly name: string }
  }
}

const namespace = 'kinds'
const labels = { app: 'kinds' }
const container = { name: 'main', image: 'registry.k8s.io/pause:3.10.2' }
/**
 * Labels of pods that controllers own. The single pod in `everyKind` has other labels, so that no controller
 * adopts and deletes it.
 */
const podLabels = { app: 'kinds-pods' }
const template = { metadata: { labels: podLabels }, spec: { containers: [container] } }
const selector = { matchLabels: podLabels }
/** Rules that match no request, so that an object cannot block the cluster. */
const noRules = [
  { apiGroups: ['kinds.example.com'], apiVersions: ['v9'], operations: ['CREATE'], resources: ['nothing'] },
]
const noRequests = { resourceRules: noRules }
const binding = { kind: 'Role', name: 'kinds', apiGroup: 'rbac.authorization.k8s.io' }
const claim = { devices: { requests: [{ name: 'one', exactly: { deviceClassName: 'kinds' } }] } }

/** Request for a certificate with the name kinds. Its key was not kept. */
const signingRequest =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIS01ISUNBUUF3RURFT01Bd0dBMVVFQXd3RmEybHVaSE13V1RBVEJnY3Foa2pPUFFJQkJnZ3Foa2pPUFFNQgpCd05DQUFROTJZaVRhUHQxUjRaZVlOckwrYkRWWjIwcEN3NkhPeTJ4dTVUVXh1bG1keHZ4eW9VZDFFcWx0dVVRCmxFU251TDliVHJ4R3BWeTdYcFJ2RVVjUzdMZUpvQUF3Q2dZSUtvWkl6ajBFQXdJRFNBQXdSUUloQU5TMnVUTjYKeXVPZm5lRlJ5VjV6VDZsSXhjNERpS1JiWklPaEtLYWNwaFM3QWlBSGZ3RE5vemErbUM1eG9TMkk0azE3ZHNLYwptc0ZFRy83RFpmZ09ja1RSSGc9PQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K'

function cluster(group: string, resource: string, kind: string, fields: object, name = 'kinds'): KindObject {
  return toObject(group, resource, kind, { name }, fields)
}

function namespaced(
  group: string,
  resource: string,
  kind: string,
  fields: object,
  name = 'kinds',
): KindObject {
  return toObject(group, resource, kind, { name, namespace }, fields)
}

function toObject(
  group: string,
  resource: string,
  kind: string,
  metadata: { readonly name: string; readonly namespace?: string },
  fields: object,
): KindObject {
  const root = group === 'v1' ? '/api/v1' : `/apis/${group}`
  const parent = metadata.namespace === undefined ? root : `${root}/namespaces/${metadata.namespace}`
  const annotations = { 'kinds.example.com/text': 'ä € 𝄞 "quoted"' }
  return {
    collection: `${parent}/${resource}`,
    body: { apiVersion: group, kind, metadata: { ...metadata, labels, annotations }, ...fields },
  }
}

const admission = 'admissionregistration.k8s.io/v1'
const rbac = 'rbac.authorization.k8s.io/v1'
const storage = 'storage.k8s.io/v1'
const devices = 'resource.k8s.io/v1'
const networking = 'networking.k8s.io/v1'
const flows = 'flowcontrol.apiserver.k8s.io/v1'

/** One object of each built-in kind that does no harm in a running cluster, in the order of creation. */
export const everyKind: readonly KindObject[] = [
  cluster('v1', 'namespaces', 'Namespace', {}),
  namespaced('v1', 'configmaps', 'ConfigMap', {
    data: { text: 'one\ntwo\n' },
    binaryData: { bytes: 'AAECAw==' },
  }),
  namespaced('v1', 'secrets', 'Secret', { type: 'Opaque', data: { password: 'c2VjcmV0' } }),
  namespaced('v1', 'serviceaccounts', 'ServiceAccount', { automountServiceAccountToken: false }),
  // This Service has no selector, because the endpoints controller changes the Endpoints of Services with a
  // selector. The controller also deletes Endpoints without a Service.
  namespaced('v1', 'services', 'Service', { spec: { ports: [{ port: 80 }] } }, 'kinds-manual'),
  namespaced(
    'v1',
    'endpoints',
    'Endpoints',
    {
      subsets: [{ addresses: [{ ip: '192.0.2.9' }], ports: [{ port: 80 }] }],
    },
    'kinds-manual',
  ),
  namespaced('v1', 'events', 'Event', {
    involvedObject: { kind: 'ConfigMap', namespace, name: 'kinds' },
    reason: 'Written',
    message: 'a core event',
    type: 'Normal',
  }),
  namespaced('v1', 'persistentvolumeclaims', 'PersistentVolumeClaim', {
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'kinds',
      resources: { requests: { storage: '1Gi' } },
    },
  }),
  cluster('v1', 'persistentvolumes', 'PersistentVolume', {
    spec: {
      accessModes: ['ReadWriteMany'],
      capacity: { storage: '2Gi' },
      storageClassName: 'kinds-volume',
      persistentVolumeReclaimPolicy: 'Retain',
      csi: { driver: 'kinds.example.com', volumeHandle: 'one' },
    },
  }),
  // A scheduling gate keeps the pod from running.
  namespaced('v1', 'pods', 'Pod', {
    spec: {
      serviceAccountName: 'kinds',
      schedulingGates: [{ name: 'kinds.example.com/never' }],
      initContainers: [{ ...container, name: 'side', restartPolicy: 'Always' }],
      containers: [
        {
          ...container,
          env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'kinds', key: 'text' } } }],
          resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '32Mi' } },
          livenessProbe: { httpGet: { path: '/', port: 80 }, periodSeconds: 5 },
          volumeMounts: [{ name: 'all', mountPath: '/all' }],
        },
      ],
      volumes: [
        {
          name: 'all',
          projected: { sources: [{ configMap: { name: 'kinds' } }, { secret: { name: 'kinds' } }] },
        },
      ],
    },
  }),
  namespaced('v1', 'podtemplates', 'PodTemplate', { template }),
  namespaced('v1', 'replicationcontrollers', 'ReplicationController', {
    spec: { replicas: 0, selector: podLabels, template },
  }),
  namespaced('v1', 'services', 'Service', {
    spec: { selector: podLabels, ports: [{ port: 80, targetPort: 8080 }] },
  }),
  namespaced('v1', 'resourcequotas', 'ResourceQuota', { spec: { hard: { pods: '100' } } }),
  namespaced('v1', 'limitranges', 'LimitRange', {
    spec: { limits: [{ type: 'Container', default: { cpu: '1' } }] },
  }),
  namespaced('apps/v1', 'controllerrevisions', 'ControllerRevision', {
    revision: 3,
    data: { spec: { any: ['thing', 1] } },
  }),
  namespaced('apps/v1', 'daemonsets', 'DaemonSet', {
    spec: {
      selector,
      template: { ...template, spec: { ...template.spec, nodeSelector: { 'kinds.example.com/none': 'x' } } },
    },
  }),
  namespaced('apps/v1', 'deployments', 'Deployment', { spec: { replicas: 0, selector, template } }),
  namespaced('apps/v1', 'replicasets', 'ReplicaSet', { spec: { replicas: 0, selector, template } }),
  namespaced('apps/v1', 'statefulsets', 'StatefulSet', {
    spec: { replicas: 0, selector, template, serviceName: 'kinds' },
  }),
  namespaced('autoscaling/v2', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler', {
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'kinds' },
      minReplicas: 1,
      maxReplicas: 3,
      metrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
        },
      ],
    },
  }),
  namespaced('batch/v1', 'jobs', 'Job', {
    spec: { suspend: true, template: { spec: { ...template.spec, restartPolicy: 'Never' } } },
  }),
  namespaced('batch/v1', 'cronjobs', 'CronJob', {
    spec: {
      suspend: true,
      schedule: '0 3 * * *',
      jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } },
    },
  }),
  namespaced('coordination.k8s.io/v1', 'leases', 'Lease', {
    spec: { holderIdentity: 'kinds', leaseDurationSeconds: 15, renewTime: '2026-01-02T03:04:05.123456Z' },
  }),
  namespaced('discovery.k8s.io/v1', 'endpointslices', 'EndpointSlice', {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['192.0.2.9'], conditions: { ready: true } }],
    ports: [{ name: 'web', port: 80 }],
  }),
  namespaced(
    'events.k8s.io/v1',
    'events',
    'Event',
    {
      eventTime: '2026-01-02T03:04:05.123456Z',
      reportingController: 'kinds.example.com/test',
      reportingInstance: 'one',
      action: 'Test',
      reason: 'Written',
      type: 'Normal',
      regarding: { kind: 'ConfigMap', namespace, name: 'kinds' },
    },
    'kinds-new',
  ),
  namespaced(networking, 'ingresses', 'Ingress', {
    spec: {
      ingressClassName: 'kinds',
      rules: [
        {
          host: 'kinds.example.com',
          http: {
            paths: [
              {
                path: '/',
                pathType: 'Prefix',
                backend: { service: { name: 'kinds', port: { number: 80 } } },
              },
            ],
          },
        },
      ],
    },
  }),
  cluster(networking, 'ingressclasses', 'IngressClass', { spec: { controller: 'kinds.example.com/none' } }),
  namespaced(networking, 'networkpolicies', 'NetworkPolicy', {
    spec: { podSelector: selector, policyTypes: ['Ingress'], ingress: [{ from: [{ podSelector: {} }] }] },
  }),
  cluster(networking, 'servicecidrs', 'ServiceCIDR', { spec: { cidrs: ['10.111.0.0/24'] } }),
  cluster('node.k8s.io/v1', 'runtimeclasses', 'RuntimeClass', { handler: 'kinds' }),
  namespaced('policy/v1', 'poddisruptionbudgets', 'PodDisruptionBudget', {
    spec: { minAvailable: 1, selector },
  }),
  cluster(rbac, 'clusterroles', 'ClusterRole', {
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
  }),
  cluster(rbac, 'clusterrolebindings', 'ClusterRoleBinding', {
    roleRef: { ...binding, kind: 'ClusterRole' },
    subjects: [{ kind: 'ServiceAccount', name: 'kinds', namespace }],
  }),
  namespaced(rbac, 'roles', 'Role', { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] }),
  namespaced(rbac, 'rolebindings', 'RoleBinding', {
    roleRef: binding,
    subjects: [{ kind: 'ServiceAccount', name: 'kinds', namespace }],
  }),
  cluster(devices, 'deviceclasses', 'DeviceClass', {
    spec: { selectors: [{ cel: { expression: 'device.driver == "kinds.example.com"' } }] },
  }),
  namespaced(devices, 'resourceclaims', 'ResourceClaim', { spec: claim }),
  namespaced(devices, 'resourceclaimtemplates', 'ResourceClaimTemplate', { spec: { spec: claim } }),
  cluster(devices, 'resourceslices', 'ResourceSlice', {
    spec: {
      driver: 'kinds.example.com',
      allNodes: true,
      pool: { name: 'kinds', generation: 1, resourceSliceCount: 1 },
      devices: [{ name: 'one', attributes: { size: { int: 3 } } }],
    },
  }),
  cluster('scheduling.k8s.io/v1', 'priorityclasses', 'PriorityClass', { value: 7, description: 'kinds' }),
  cluster(storage, 'csidrivers', 'CSIDriver', { spec: { attachRequired: false } }, 'kinds.example.com'),
  cluster(storage, 'csinodes', 'CSINode', {
    spec: { drivers: [{ name: 'kinds.example.com', nodeID: 'one' }] },
  }),
  namespaced(storage, 'csistoragecapacities', 'CSIStorageCapacity', {
    storageClassName: 'kinds',
    capacity: '5Gi',
  }),
  cluster(storage, 'storageclasses', 'StorageClass', {
    provisioner: 'kinds.example.com',
    parameters: { type: 'none' },
    volumeBindingMode: 'WaitForFirstConsumer',
  }),
  cluster(storage, 'volumeattachments', 'VolumeAttachment', {
    spec: { attacher: 'kinds.example.com', nodeName: 'kinds', source: { persistentVolumeName: 'kinds' } },
  }),
  cluster(storage, 'volumeattributesclasses', 'VolumeAttributesClass', {
    driverName: 'kinds.example.com',
    parameters: { iops: '100' },
  }),
  cluster('certificates.k8s.io/v1', 'certificatesigningrequests', 'CertificateSigningRequest', {
    spec: { request: signingRequest, signerName: 'kinds.example.com/own', usages: ['client auth'] },
  }),
  cluster(flows, 'prioritylevelconfigurations', 'PriorityLevelConfiguration', {
    spec: { type: 'Limited', limited: { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' } } },
  }),
  cluster(flows, 'flowschemas', 'FlowSchema', {
    spec: {
      priorityLevelConfiguration: { name: 'kinds' },
      matchingPrecedence: 9000,
      rules: [
        {
          subjects: [{ kind: 'User', user: { name: 'kinds' } }],
          nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/kinds'] }],
        },
      ],
    },
  }),
  cluster(admission, 'validatingwebhookconfigurations', 'ValidatingWebhookConfiguration', {
    webhooks: [webhook()],
  }),
  cluster(admission, 'mutatingwebhookconfigurations', 'MutatingWebhookConfiguration', {
    webhooks: [webhook()],
  }),
  cluster(admission, 'validatingadmissionpolicies', 'ValidatingAdmissionPolicy', {
    spec: { matchConstraints: noRequests, validations: [{ expression: 'true' }] },
  }),
  cluster(admission, 'validatingadmissionpolicybindings', 'ValidatingAdmissionPolicyBinding', {
    spec: { policyName: 'kinds', validationActions: ['Audit'] },
  }),
  cluster(admission, 'mutatingadmissionpolicies', 'MutatingAdmissionPolicy', {
    spec: {
      reinvocationPolicy: 'Never',
      matchConstraints: noRequests,
      mutations: [
        {
          patchType: 'JSONPatch',
          jsonPatch: { expression: '[JSONPatch{op: "add", path: "/metadata/labels/kinds", value: "x"}]' },
        },
      ],
    },
  }),
  cluster(admission, 'mutatingadmissionpolicybindings', 'MutatingAdmissionPolicyBinding', {
    spec: { policyName: 'kinds' },
  }),
  // The API server also creates an APIService for this CRD, so the list needs no other APIService.
  cluster(
    'apiextensions.k8s.io/v1',
    'customresourcedefinitions',
    'CustomResourceDefinition',
    {
      spec: {
        group: 'kinds.example.com',
        scope: 'Namespaced',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            subresources: { status: {} },
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: {
                  spec: {
                    type: 'object',
                    properties: {
                      size: { type: 'integer', default: 3 },
                      names: { type: 'array', items: { type: 'string' } },
                    },
                    'x-kubernetes-validations': [{ rule: 'self.size > 0' }],
                  },
                  status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                },
              },
            },
          },
        ],
      },
    },
    'widgets.kinds.example.com',
  ),
]

/**
 * An object of the custom resource that `everyKind` defines. The API accepts it only after it serves the
 * resource.
 */
export const customObject: KindObject = namespaced('kinds.example.com/v1', 'widgets', 'Widget', {
  spec: { names: ['one', 'two'] },
})

/**
 * A Node without a kubelet. It is not in `everyKind`, because hyperkube would remove it from a cluster that
 * it manages.
 */
export const nodeObject: KindObject = cluster('v1', 'nodes', 'Node', {
  spec: {
    podCIDR: '10.244.9.0/24',
    podCIDRs: ['10.244.9.0/24'],
    taints: [{ key: 'kinds', effect: 'NoSchedule' }],
  },
})

function webhook(): object {
  return {
    name: 'kinds.example.com',
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    failurePolicy: 'Ignore',
    rules: noRules,
    clientConfig: { url: 'https://kinds.example.com/none' },
  }
}
