import { expect, test } from 'vitest'
import { countWorkerDrains, planUpgradeSteps } from './upgrade-steps.ts'

const all = (version: string) => ({ kubernetes: version, workers: version })

test('from 1.32 to 1.37 workers are drained twice', () => {
  const from = all('1.32.13')
  const steps = planUpgradeSteps(from, ['1.33.13', '1.34.10', '1.35.8', '1.36.4', '1.37.1'])
  expect(steps).toEqual([
    { kubernetes: '1.33.13', workers: '1.32.13' },
    { kubernetes: '1.34.10', workers: '1.32.13' },
    all('1.35.8'),
    { kubernetes: '1.36.4', workers: '1.35.8' },
    all('1.37.1'),
  ])
  expect(countWorkerDrains(from, steps)).toBe(2)
})

test('one minor changes all hosts in one step', () => {
  expect(planUpgradeSteps(all('1.36.4'), ['1.37.1'])).toEqual([all('1.37.1')])
})

test('a new patch version needs no drain', () => {
  const steps = planUpgradeSteps(all('1.37.1'), ['1.37.2'])
  expect(steps).toEqual([all('1.37.2')])
  expect(countWorkerDrains(all('1.37.1'), steps)).toBe(0)
})

test('workers that stayed behind follow, although the control planes have the version', () => {
  expect(planUpgradeSteps({ kubernetes: '1.37.1', workers: '1.35.8' }, [])).toEqual([all('1.37.1')])
  expect(planUpgradeSteps(all('1.37.1'), [])).toEqual([])
})
