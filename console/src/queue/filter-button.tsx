/** The button of a narrow window that shows the filters and the order, and tells how many filters are set. */
import { countFilters, type Filters } from '../api/filters.ts';
import { useTexts } from '../texts/texts.ts';
import { FILTERS_ID } from './filter-form.tsx';
import styles from './queue.module.css';

interface FilterButtonProps {
  readonly filters: Filters;
  readonly isOpen: boolean;
  readonly onToggle: (isOpen: boolean) => void;
}

export function FilterButton({ filters, isOpen, onToggle }: FilterButtonProps) {
  const { queue } = useTexts();
  const count = countFilters(filters);
  return (
    <button
      type="button"
      className={styles.filterButton}
      aria-expanded={isOpen}
      aria-controls={FILTERS_ID}
      onClick={() => onToggle(!isOpen)}
    >
      {count === 0 ? queue.filters : queue.filtersSet(count)} <span aria-hidden="true">▾</span>
    </button>
  );
}
