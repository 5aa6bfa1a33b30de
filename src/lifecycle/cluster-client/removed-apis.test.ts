import { expect, test } from 'vitest'
import { parseDeprecatedApis, findRemovedApis } from './removed-apis.ts'

const metrics = `# HELP apiserver_requested_deprecated_apis [STABLE] Gauge of deprecated APIs that have been requested
# TYPE apiserver_requested_deprecated_apis gauge
apiserver_requested_deprecated_apis{group="",removed_release="",resource="endpoints",subresource="",version="v1"} 1
apiserver_requested_deprecated_apis{group="flowcontrol.apiserver.k8s.io",removed_release="1.37",resource="flowschemas",subresource="",version="v1beta3"} 1
apiserver_requested_deprecated_apis{group="batch",removed_release="1.39",resource="cronjobs",subresource="status",version="v2alpha1"} 1
apiserver_request_total{code="200"} 12
`

test('deprecated APIs in use are read from the metrics of a server', () => {
  expect(parseDeprecatedApis(metrics)).toEqual([
    { version: 'flowcontrol.apiserver.k8s.io/v1beta3', resource: 'flowschemas', removedIn: '1.37' },
    { version: 'batch/v2alpha1', resource: 'cronjobs', removedIn: '1.39' },
  ])
})

test('only APIs that the desired version lacks block the upgrade', () => {
  const apis = parseDeprecatedApis(metrics)
  expect(findRemovedApis('1.36.4', apis)).toEqual([])
  expect(findRemovedApis('1.37.1', [...apis, ...apis]).map(({ message }) => message)).toEqual([
    'clients use flowschemas of flowcontrol.apiserver.k8s.io/v1beta3, which Kubernetes 1.37 no longer serves',
  ])
  expect(findRemovedApis('1.39.0', apis)).toHaveLength(2)
})
