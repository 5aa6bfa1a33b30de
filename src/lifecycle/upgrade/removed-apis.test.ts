import { expect, test } from 'vitest'
import { deprecatedApis, removedFindings } from './removed-apis.ts'

const metrics = `# HELP apiserver_requested_deprecated_apis [STABLE] Gauge of deprecated APIs that have been requested
# TYPE apiserver_requested_deprecated_apis gauge
apiserver_requested_deprecated_apis{group="",removed_release="",resource="endpoints",subresource="",version="v1"} 1
apiserver_requested_deprecated_apis{group="flowcontrol.apiserver.k8s.io",removed_release="1.37",resource="flowschemas",subresource="",version="v1beta3"} 1
apiserver_requested_deprecated_apis{group="batch",removed_release="1.39",resource="cronjobs",subresource="status",version="v2alpha1"} 1
apiserver_request_total{code="200"} 12
`

test('what somebody has asked for and will be gone is read from the metrics of a server', () => {
  expect(deprecatedApis(metrics)).toEqual([
    { version: 'flowcontrol.apiserver.k8s.io/v1beta3', resource: 'flowschemas', removed: '1.37' },
    { version: 'batch/v2alpha1', resource: 'cronjobs', removed: '1.39' },
  ])
})

test('only what the wished version has no more stands in the way', () => {
  const apis = deprecatedApis(metrics)
  expect(removedFindings('1.36.4', apis)).toEqual([])
  expect(removedFindings('1.37.1', [...apis, ...apis]).map(({ message }) => message)).toEqual([
    'somebody has asked for flowschemas of flowcontrol.apiserver.k8s.io/v1beta3, which 1.37.1 has no more',
  ])
  expect(removedFindings('1.39.0', apis)).toHaveLength(2)
})
