import { test } from 'vitest'
import {
  expectControllerCopies,
  expectDriftReportedAndFixed,
  expectPolicyChecked,
} from '../support/sdk-examples.ts'
import { setUpCluster } from '../support/suite-cluster.ts'

const cluster = setUpCluster('sdk', '1+1', '1.37.1')

test('the policy check reads the plan of the cluster', () => expectPolicyChecked(cluster()))

test('the drift report names a changed file, and the provider of Pulumi fixes it', async () =>
  expectDriftReportedAndFixed(cluster()))

test('a controller copies a ConfigMap, and another one takes over', async () =>
  expectControllerCopies(cluster()))
