/* Every kernel of the project. No include guard: each includer says what K_KERNEL means. */
K_KERNEL(ct_project)
K_KERNEL(ct_backproject)
K_KERNEL(ct_normalise)
K_KERNEL(ct_filter)
K_KERNEL(ct_columns_lay)
K_KERNEL(ct_columns_project)
K_KERNEL(k_health)
K_KERNEL(k_combine)
