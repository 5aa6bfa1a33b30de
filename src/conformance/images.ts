/**
 * Conformance tests whose code puts an image into a pod, by the image's name; the tests by how their names begin. Read
 * from upstream's sources of 1.37 (test/e2e, where it says imageutils.Nginx and so on). What nearly all tests need is
 * not here: without agnhost, busybox and pause there is nothing to test.
 */
export const testsOfImage: Readonly<Record<string, readonly string[]>> = {
  nginx: [
    '[sig-api-machinery] Garbage collector should delete pods created by rc when not orphaning',
    '[sig-api-machinery] Garbage collector should orphan pods created by rc if delete',
    '[sig-api-machinery] Garbage collector should delete RS created by deployment when not orphaning',
    '[sig-api-machinery] Garbage collector should orphan RS created by deployment when',
    '[sig-api-machinery] Garbage collector should keep the rc around until all its pods are deleted',
    '[sig-api-machinery] Garbage collector should not delete dependents that have both valid owner and owner',
    '[sig-api-machinery] Garbage collector should not be blocked by dependency circle',
    '[sig-apps] ReplicationController should test the lifecycle of a ReplicationController',
    '[sig-network] EndpointsController should create Endpoints for Pods matching a Service',
    '[sig-network] EndpointSlice should create Endpoints and EndpointSlices for Pods matching a Service',
    '[sig-node] Pods Extended (pod generation) Pod Generation pod generation should start at 1 and increment',
  ],
  'glibc-dns-testing': [
    '[sig-network] DNS should provide DNS for the cluster',
    '[sig-network] DNS should provide /etc/hosts entries for the cluster',
    '[sig-network] DNS should provide DNS for services',
    '[sig-network] DNS should resolve DNS of partial qualified names for services',
    '[sig-network] DNS should provide DNS for pods for Hostname',
    '[sig-network] DNS should provide DNS for pods for Subdomain',
    '[sig-network] DNS should provide DNS for ExternalName services',
  ],
  'sample-apiserver': ['[sig-api-machinery] Aggregator Should be able to support the 1.17 Sample API Server'],
  etcd: ['[sig-api-machinery] Aggregator Should be able to support the 1.17 Sample API Server'],
  nautilus: [
    '[sig-cli] Kubectl client Update Demo should create and stop a replication controller',
    '[sig-cli] Kubectl client Update Demo should scale a replication controller',
  ],
  kitten: ['[sig-node] ImageVolume should succeed with pod and pull policy of Always'],
  nonewprivs: [
    '[sig-node] Security Context when creating containers with AllowPrivilegeEscalation should not allow privilege escalation when false',
  ],
}

/** The first of some images that a test needs. */
export function imageNeededBy(test: string, images: readonly string[]): string | undefined {
  return images.find((image) => testsOfImage[image]?.some((beginning) => test.startsWith(beginning)))
}
