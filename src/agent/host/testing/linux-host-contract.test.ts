import { expect, test } from 'vitest'
import { linuxHostContract } from './linux-host-contract.ts'
import { createTemporaryHost } from './temporary-host.ts'

test.each(linuxHostContract)('in memory: $name', async ({ check }) => {
  await using host = await createTemporaryHost()
  await expect(check(host)).resolves.toBeUndefined()
})
