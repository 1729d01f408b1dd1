#pragma once
unsigned other_work(unsigned x);
